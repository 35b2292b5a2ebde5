import { expect, it } from 'vitest';
import type { RunHost } from '../../host/run-host.ts';
import { keepGoing } from './keep-going.ts';

it('[A1093] the story of the demo goes on: one parcel at a time, answered if nobody does', async () => {
  const timers: (() => void)[] = [];
  const started: string[] = [];
  const answered: unknown[] = [];
  let isEnded = false;
  const host = {
    async start({ name }: { name: string }) {
      started.push(name);
      return { ok: true, value: name };
    },
    finished: async () => {},
    reader: {
      run: async () => (isEnded ? { endedAt: 'now' } : {}),
      decisions: async () => [{ decision: { id: 'd' } }],
    },
    answer: async (...given: unknown[]) => answered.push(given),
  } as unknown as RunHost;
  const after = (_: number, act: () => void) => {
    timers.push(act);
    return () => timers.splice(timers.indexOf(act), timers.includes(act) ? 1 : 0);
  };
  const stop = keepGoing(host, { after } as never, '/plans');
  const tick = async () => {
    timers.shift()?.();
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  await tick();
  expect(started).toEqual(['parcel 1 to Oslo']);
  expect(timers).toHaveLength(1);
  // Nobody answers.
  await tick();
  expect(answered).toMatchObject([['d', { resolution: { resolutionType: 'approve' } }, 'demo']]);
  isEnded = true;
  await tick();
  expect(started).toEqual(['parcel 1 to Oslo', 'parcel 2 to Berlin']);
  expect(timers).toHaveLength(1);
  stop();
  await tick();
  expect(started).toHaveLength(2);
});
