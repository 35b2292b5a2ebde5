import { expect, it } from 'vitest';
import { playScene } from './scene.ts';

it('[A13] a scene is good as long as every claim holds', async () => {
  const title = 'Numbers';
  const scene = {
    title,
    play: (log: Parameters<Parameters<typeof playScene>[1]['play']>[0], last: number) => {
      log.tell('we count');
      if (!log.claim('one is one', 1 === Math.min(1, last))) return;
      log.claim('two is two', last === 2);
    },
  };
  const told = { kind: 'text', text: 'we count' };
  const one = (holds: boolean) => ({ kind: 'claim', text: 'one is one', holds });
  const two = (holds: boolean) => ({ kind: 'claim', text: 'two is two', holds });
  expect(await playScene(1, scene, 2)).toEqual({ step: 1, title, ok: true, lines: [told, one(true), two(true)] });
  expect(await playScene(2, scene, 3)).toEqual({ step: 2, title, ok: false, lines: [told, one(true), two(false)] });
  expect(await playScene(3, scene, 0)).toEqual({ step: 3, title, ok: false, lines: [told, one(false)] });
});
