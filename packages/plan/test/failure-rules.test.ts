import type { RunId } from '@signalbox/model';
import { expect, it } from 'vitest';
import { Retryable, Terminal } from '../src/failures/verdicts.ts';
import type { TaskExecutor } from '../src/frames/task-executor.ts';
import { Fragment } from '../src/jsx/element.ts';
import { Agent, Human, Phase, SubPlan, Task } from '../src/nodes/components.ts';
import { type AnyPlan, definePlan } from '../src/plan-definition.ts';
import { el } from './elements.ts';
import { type Harness, harness } from './harness.ts';

const planOf = (...content: readonly unknown[]): AnyPlan =>
  definePlan({ name: 'test', render: () => el(Fragment, {}, ...content) });

/** How often each node was attempted, the waits in between, and the end. */
async function ended(plan: AnyPlan, executor?: TaskExecutor, world = harness()) {
  const end = await world.end(world.start(plan, executor === undefined ? {} : { executor }));
  return { ...end, ...(await factsOf(world, world.run)) };
}

async function factsOf(world: Harness, run: RunId) {
  const events = (await world.runs.events(run, 0, 1000)).map(({ event }) => event);
  const started = events.flatMap(event => (event.type === 'task.started' ? [event] : []));
  const attempts = Object.fromEntries(started.map(({ node, attempt }) => [node, attempt]));
  const waits = events.flatMap(event =>
    event.type === 'task.retry' ? [Date.parse(event.retryAt) - Date.parse(event.ts)] : [],
  );
  const rows = await world.runs.at(run, 'status', (await world.runs.run(run))?.frames ?? 0);
  const statuses = Object.fromEntries([...rows].map(([id, row]) => [id, (row as { status: string }).status]));
  return { attempts, waits, statuses };
}

const fails = (thrown: () => unknown) => () => {
  throw thrown();
};
const plain = fails(() => new TypeError('no'));

it('[P330] a thrown error is retried three times, after a wait that doubles', async () => {
  const { status, attempts, waits } = await ended(planOf(el(Task, { id: 't', run: plain })));
  expect({ status, attempts }).toEqual({ status: 'failed', attempts: { t: 4 } });
  expect(waits.map((wait, index) => wait >= 500 * 2 ** index && wait <= 1000 * 2 ** index)).toEqual([true, true, true]);
});

it('[P330] with effects outside it is not, unless it is idempotent', async () => {
  const external = { id: 't', run: plain, effects: 'external' };
  expect((await ended(planOf(el(Task, external)))).attempts).toEqual({ t: 1 });
  expect((await ended(planOf(el(Task, { ...external, idempotent: true })))).attempts).toEqual({ t: 4 });
});

it('[P331] Terminal is not retried, whatever it comes from', async () => {
  const run = fails(() => new Terminal('never'));
  const { attempts, ...end } = await ended(planOf(el(Task, { id: 't', run })));
  expect(attempts).toEqual({ t: 1 });
  expect(end).toMatchObject({ error: { message: 'Node t failed: Terminal: never' } });
});

it('[P331] Retryable is retried, with effects outside too, and not before its time', async () => {
  const run = fails(() => new Retryable('later', { after: '2m' }));
  const { attempts, waits } = await ended(planOf(el(Task, { id: 't', run, effects: 'external' })));
  expect(attempts).toEqual({ t: 4 });
  expect(waits).toEqual([120_000, 120_000, 120_000]);
  expect(() => new Retryable('never', { after: 'soon' as never })).toThrow('soon is no duration');
});

it.each([
  [{ attempts: 1 }, { t: 1 }],
  [{ attempts: 3 }, { t: 3 }],
  [{ attempts: 2, on: ['TypeError'] }, { t: 2 }],
  [{ attempts: 2, on: ['RangeError', 'timeout'] }, { t: 1 }],
  [
    { on: ({ attempt, message }: { attempt: number; message: string }) => attempt < 2 && message.includes('no') },
    { t: 2 },
  ],
  [{ on: plain }, { t: 1 }],
])('[P332] retry says how often, and on what: %o', async (retry, attempts) => {
  expect((await ended(planOf(el(Task, { id: 't', run: plain, retry })))).attempts).toEqual(attempts);
});

it('[P332] retry says how long to wait', async () => {
  const waitsOf = async (backoff: unknown) =>
    (await ended(planOf(el(Task, { id: 't', run: plain, retry: { attempts: 4, backoff } })))).waits;
  const within = (waits: readonly number[], full: readonly number[]) =>
    waits.length === full.length && waits.every((wait, at) => wait >= (full[at] ?? 0) / 2 && wait <= (full[at] ?? 0));
  expect(within(await waitsOf('10s'), [10_000, 10_000, 10_000])).toBe(true);
  expect(within(await waitsOf({ first: 100, factor: 3, max: '500ms' }), [100, 300, 500])).toBe(true);
});

it('[P332] refuses two ways to say the same, and what is no duration', () => {
  const made = (props: object) => () =>
    planOf(el(Task, { id: 't', run: plain, line: 3, ...props })).render(undefined as never);
  const rendered = (props: object) => ended(planOf(el(Task, { id: 't', run: plain, line: 3, ...props })));
  expect(made({ timeout: 'soon' })).toThrow('timeout: must be milliseconds');
  expect(made({ retry: { attempts: 0 } })).toThrow('retry.attempts');
  return Promise.all([
    expect(rendered({ retry: {}, retries: 1 })).resolves.toMatchObject({
      error: { message: expect.stringContaining('give retry or retries, not both') },
    }),
    expect(rendered({ timeout: 5, timeoutMs: 5 })).resolves.toMatchObject({
      error: { message: expect.stringContaining('give timeout or timeoutMs, not both') },
    }),
  ]);
});

it('[P332] of an agent counts what its runner calls retryable', async () => {
  const executor: TaskExecutor = {
    execute: async () => ({ kind: 'failed', error: { class: 'retryable', code: 'overloaded', message: 'busy' } }),
  };
  const agent = (retry: object) => planOf(el(Agent, { id: 'a', model: 'm', prompt: 'p', retry }));
  expect((await ended(agent({ attempts: 2 }), executor)).attempts).toEqual({ a: 2 });
  expect((await ended(agent({ attempts: 5, on: ['rate_limit'] }), executor)).attempts).toEqual({ a: 1 });
});

it('[P333] a sub-plan with retry gets another child run for each attempt; without, it is not started again', async () => {
  const child = planOf(el(Task, { id: 'c', run: plain, retries: 0 }));
  const world = harness();
  const parent = (retry: object) => planOf(el(SubPlan, { id: 's', plan: child, ...retry }));
  expect((await ended(parent({}))).attempts).toEqual({ s: 1 });
  const { attempts, status } = await ended(parent({ retry: { attempts: 3 } }), undefined, world);
  expect({ attempts, status }).toEqual({ attempts: { s: 3 }, status: 'failed' });
  expect((await world.runs.children(world.run)).map(run => run.status)).toEqual(['failed', 'failed', 'failed']);
});

it('[P333] a retried sub-plan whose child succeeds has succeeded', async () => {
  let calls = 0;
  const flaky = () => {
    calls += 1;
    if (calls < 3) throw new Error('not yet');
    return calls;
  };
  const child = planOf(el(Task, { id: 'c', run: flaky, retries: 0 }));
  const plan = planOf(el(SubPlan, { id: 's', plan: child, retry: { attempts: 3 } }));
  expect(await ended(plan)).toMatchObject({ status: 'completed', attempts: { s: 3 }, statuses: { s: 'succeeded' } });
});

it.each([
  ['allowFailure', { allowFailure: true }, []],
  [
    'onFailed',
    { onFailed: ({ error }: { error: { message: string } }) => void seen.push(error.message) },
    ['Node t failed: TypeError: no'],
  ],
])('[P334] %s: what comes after goes on, and the node shows its failure', async (_, props, told) => {
  seen.length = 0;
  const plan = planOf(
    el(
      Phase,
      { name: 'a' },
      el(Task, { id: 't', run: plain, retries: 0, ...props }),
      el(Task, { id: 'beside', run: () => 1 }),
    ),
    el(Phase, { name: 'b' }, el(Task, { id: 'after', run: () => 1 })),
  );
  expect(await ended(plan)).toMatchObject({
    status: 'completed',
    statuses: { t: 'failed', beside: 'succeeded', after: 'succeeded' },
  });
  expect(seen).toEqual(told);
});
const seen: string[] = [];

it('[P334] a handler that fails there fails the run all the same', async () => {
  const plan = planOf(el(Task, { id: 't', run: plain, retries: 0, onFailed: fails(() => new Error('in it')) }));
  expect(await ended(plan)).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('in it') } });
});

it('[P334] the failure that ends a run is one that it did not take in', async () => {
  const plan = planOf(
    el(Task, { id: 'a', run: plain, retries: 0, allowFailure: true }),
    el(Task, { id: 'b', run: fails(() => new Error('mine')), retries: 0 }),
  );
  expect(await ended(plan)).toMatchObject({ error: { message: 'Node b failed: mine' } });
});

const denies: TaskExecutor = {
  execute: async () => ({ kind: 'done', output: { approved: false, rationale: 'not on a Friday' } }),
};
const asking = (props: object) =>
  planOf(
    el(Phase, { name: 'ask' }, el(Human, { id: 'ask', prompt: 'Deploy?', ...props })),
    el(Phase, { name: 'deploy' }, el(Task, { id: 'deploy', run: () => 'deployed' })),
  );

it('[P335] a denied confirmation that the plan does not take in stops the run, and nothing after it starts', async () => {
  expect(await ended(asking({}), denies)).toMatchObject({
    status: 'stopped',
    reason: 'A person denied ask: not on a Friday',
    attempts: { ask: 1 },
    statuses: { ask: 'failed' },
  });
});

it('[P335] asked again after an operator asked for it, the run goes on with the new answer', async () => {
  const world = harness();
  await ended(asking({}), denies, world);
  const approves: TaskExecutor = { execute: async () => ({ kind: 'done', output: { approved: true, rationale: '' } }) };
  const resumed = world.resume(asking({}), { executor: approves });
  void resumed.retry('ask');
  expect(await world.end(resumed)).toMatchObject({ status: 'completed' });
});

it('[P336] onDenied takes it in: the plan goes on, and the node shows the denial', async () => {
  const told: string[] = [];
  const onDenied = ({ error }: { error: { message: string } }) => void told.push(error.message);
  expect(await ended(asking({ onDenied }), denies)).toMatchObject({
    status: 'completed',
    statuses: { ask: 'failed', deploy: 'succeeded' },
  });
  expect(told).toEqual(['Node ask failed: A person denied it: not on a Friday']);
});

it('[P336] onFinished gets the answer, and the reason of the node says that it was denied', async () => {
  const world = harness();
  const answers: unknown[] = [];
  const plan = asking({ onFinished: (answer: unknown) => void answers.push(answer) });
  expect(await ended(plan, denies, world)).toMatchObject({ status: 'completed' });
  expect(answers).toEqual([{ approved: false, rationale: 'not on a Friday', denied: true }]);
  const frames = (await world.runs.run(world.run))?.frames ?? 0;
  expect(await world.runs.valueAt(world.run, 'status', 'ask', frames)).toMatchObject({
    status: 'succeeded',
    reason: 'denied',
  });
});

it('[P336] where options or a value were asked for, a denial is a failure', async () => {
  const denied: TaskExecutor = {
    execute: async () => ({
      kind: 'failed',
      error: { class: 'terminal', code: 'denied', message: 'A person denied it' },
    }),
  };
  const options = [{ id: 'a' }, { id: 'b' }];
  expect(await ended(asking({ options }), denied)).toMatchObject({ status: 'failed' });
  expect(await ended(asking({ options, onDenied: () => {} }), denied)).toMatchObject({ status: 'completed' });
});

it.each([
  ['Task', el(Task, { id: 'd', run: () => new Promise(() => {}) }), 500],
  ['Agent', el(Agent, { id: 'd', model: 'm', prompt: 'p' }), 5000],
])('[P339] nobody waits longer than the grace period for a canceled %s that does not end', async (_, node, graceMs) => {
  const world = harness();
  const run = world.start(planOf(node), { executor: { execute: () => new Promise(() => {}) } });
  await world.calm();
  void run.cancel('d');
  await world.calm();
  const before = world.clock.now();
  expect(await world.end(run)).toMatchObject({
    status: 'failed',
    error: { message: 'Node d failed: it was canceled' },
  });
  expect(world.clock.now() - before).toBe(graceMs);
  const [task] = await world.runs.tasks(world.run);
  expect(task?.lastError).toEqual({
    class: 'terminal',
    code: 'not-ended',
    message: `It was canceled, and did not end within ${graceMs} ms. Its code may still be running.`,
  });
});

it('[P339] the next attempt starts when the one whose time is over has ended', async () => {
  const going: number[] = [];
  let most = 0;
  const run = ({ signal, attempt }: { signal: AbortSignal; attempt: number }) =>
    new Promise((_, reject) => {
      going.push(attempt);
      most = Math.max(most, going.length);
      signal.addEventListener('abort', () => {
        void Promise.resolve().then(() => {
          going.splice(going.indexOf(attempt), 1);
          reject(signal.reason);
        });
      });
    });
  const plan = planOf(el(Task, { id: 't', run, timeout: 20, retry: { attempts: 3, backoff: 1 } }));
  expect(await ended(plan)).toMatchObject({ status: 'failed', attempts: { t: 3 } });
  expect({ most, left: going.length }).toEqual({ most: 1, left: 0 });
});
