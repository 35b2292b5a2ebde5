import { answers } from '@signalbox/model';
import { expect, it } from 'vitest';
import { code, httpAsker, json } from './http-asker.ts';

it('[V379] two runs are compared by their ids', async () => {
  const { host, ask } = httpAsker();
  const [a, b] = [await host.begin('one'), await host.begin('two')];
  await a.state('turn', 1);
  await b.state('turn', 2);
  const compared = await json(ask('GET', `/api/runs/${a.id}/compare/${b.id}`));
  expect(compared).toMatchObject({ a: { run: a.id }, b: { run: b.id }, state: [{ key: 'turn', a: 1, b: 2 }] });
  expect(answers.Comparison.safeParse(compared).success).toBe(true);
  expect(await code(ask('GET', `/api/runs/${a.id}/compare/nothing`))).toEqual([404, 'run/unknown']);
});
