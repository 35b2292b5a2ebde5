import { testPlan } from 'signalbox/testing';
import { expect, it } from 'vitest';
import plan from './plan.tsx';

it('writes until the text is short, and sends it once somebody agreed', async () => {
  await using run = await testPlan(plan);
  await run.settled();
  expect(run.state).toEqual({ draft: 'Trains run. The box is staffed.', tries: 3 });
  expect(run.questions).toMatchObject([{ node: 'ok', prompt: 'Send this? Trains run. The box is staffed.' }]);
  await run.answer('ok', 'approve');
  expect(await run.end()).toMatchObject({ status: 'completed' });
  expect(run.outline()).toBe(`plan: succeeded
  phase write: succeeded
    while until-short: succeeded
      task write: succeeded
  phase ask: succeeded
    human ok: succeeded
  phase send: succeeded
    task send: succeeded`);
});

it('survives the end of its process while it waits', async () => {
  await using run = await testPlan(plan);
  await run.settled();
  const before = run.outline();
  await run.crashAndResume();
  expect(run.outline()).toBe(before);
  await run.answer('ok', { approve: true, reason: 'short enough' });
  expect(await run.end()).toMatchObject({ status: 'completed' });
});
