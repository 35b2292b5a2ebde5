import type { RunId } from '@signalbox/model';
import type { RunReader } from '@signalbox/runs';
import { expect, it, onTestFinished } from 'vitest';
import { contractView } from '../src/contract-view/plan-events.ts';
import { takeUp } from '../src/host/take-up.ts';
import { timerWait } from '../src/host/timer-wait.ts';
import { why } from '../src/why/why.ts';
import { openTestHost, planText } from './support/open-host.ts';
import { until } from './support/until.ts';
import { temporaryFolder } from './temporary-folder.ts';

const DUE = '2126-01-01T09:00:00.000Z';
const clock = { now: () => Date.parse('2125-12-31T09:00:00.000Z') };
const state = `z.object({ fired: z.string().default('') })`;
const timer = (props: string) =>
  planText(
    `<Phase name="wait"><Timer id="nap" ${props} onFinished={due => ctx.state.set('fired', due)} /></Phase>
     <Phase name="go"><Task id="go" run={() => 1} /></Phase>`,
    state,
    `import { Timer } from 'signalbox';`,
  );

/** The run as it is once its timer waits. */
const waiting = (reader: RunReader, run: RunId) =>
  until(async () => {
    const record = await reader.run(run);
    return record && (await timerWait(reader, record)) === DUE ? record : undefined;
  });

it('[A600] a timer fires by itself in a run that a host drives', async () => {
  const test = await openTestHost(temporaryFolder());
  onTestFinished(() => test.close());
  const run = await test.start('soon', timer('forMs={1}'));
  expect(await test.end(run)).toMatchObject({ status: 'completed', output: { fired: expect.stringMatching(/Z$/) } });
});

it('[A600] [A601] [A602] a run that only waits for a time is running, says for which, and waits on under the next owner', async () => {
  const folder = temporaryFolder();
  const first = await openTestHost(folder);
  const run = await first.start('late', timer(`until="2126-01-01T10:00:00+01:00"`));
  expect((await waiting(first.store, run)).status).toBe('running');
  const said = async (node?: string) => {
    const answers = await why(first.store, run, node, clock);
    return answers.ok ? answers.value.map(({ topic, text, at }) => ({ topic, text, at })).slice(1) : [];
  };
  expect(await said()).toEqual([
    { topic: 'waits', text: `The timer 'nap': It waits until ${DUE} (in 24 h).`, at: DUE },
  ]);
  expect(await said('nap')).toEqual([{ topic: 'waits', text: `It waits until ${DUE} (in 24 h).`, at: DUE }]);
  const told = await contractView(first.store, run)(await first.store.events(run, 0, 1000));
  expect(told.map(({ event }) => event)).toContainEqual(
    expect.objectContaining({
      type: 'node.patch',
      patch: expect.objectContaining({ status: 'blocked', summary: `blocked: timer:${DUE}` }),
    }),
  );
  await first.close();

  const second = await openTestHost(folder);
  onTestFinished(() => second.close());
  expect(await second.store.run(run)).toMatchObject({ status: 'paused' });
  expect(await takeUp(second.host)).toEqual([run]);
  expect((await waiting(second.store, run)).status).toBe('running');
  expect((await second.host.act(run, { kind: 'stop', reason: 'enough' }, 'ada')).ok).toBe(true);
  expect(await second.end(run)).toEqual({ status: 'stopped', stopReason: 'enough' });
  expect((await second.store.tasks(run)).map(({ node, status }) => `${node} ${status}`)).toEqual(['nap canceled']);
});

it('[A602] a run does not only wait for a time while other work of it goes on, or that of a sub-plan', async () => {
  const test = await openTestHost(temporaryFolder());
  onTestFinished(() => test.close());
  const busy = await test.start(
    'busy',
    planText(
      `<Timer id="nap" until="${DUE}" /><Task id="work" run={({ signal }) => new Promise(end => signal.addEventListener('abort', () => end(1)))} />`,
      'z.object({})',
      `import { Timer } from 'signalbox';`,
    ),
  );
  const nap = await until(async () => (await test.store.tasks(busy)).find(task => task.blockReason === `timer:${DUE}`));
  expect(nap.status).toBe('pending');
  expect(await timerWait(test.store, { id: busy, status: 'running' })).toBeUndefined();
  await test.host.act(busy, { kind: 'terminate', reason: 'enough' }, 'ada');
  const above = await test.start(
    'above',
    planText(
      `<SubPlan id="sub" plan={below} />`,
      'z.object({})',
      `import { Timer } from 'signalbox';
       const below = definePlan({ name: 'below', render: () => <Timer id="nap" until="${DUE}" /> });`,
    ),
  );
  await waiting(test.store, above);
  await test.host.act(above, { kind: 'terminate', reason: 'enough' }, 'ada');
  await test.end(above);
});
