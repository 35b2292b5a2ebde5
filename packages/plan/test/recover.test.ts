import { expect, it } from 'vitest';
import type { TaskExecutor } from '../src/frames/task-executor.ts';
import { Fragment } from '../src/jsx/element.ts';
import { Human, Phase, Recover, SubPlan, Task, While } from '../src/nodes/components.ts';
import { treeToXml } from '../src/nodes/tree-xml.ts';
import { type AnyPlan, definePlan } from '../src/plan-definition.ts';
import { replayRun } from '../src/replay/replay-run.ts';
import { el } from './elements.ts';
import { type Harness, harness } from './harness.ts';

const planOf = (...content: readonly unknown[]): AnyPlan =>
  definePlan({ name: 'test', render: () => el(Fragment, {}, ...content) });

const fails = () => {
  throw new Error('no');
};
const works = () => 1;
const task = (id: string, run: (task: never) => unknown = works, more = {}) =>
  el(Task, { id, run, retries: 0, ...more });

async function ended(plan: AnyPlan, world = harness(), executor?: TaskExecutor) {
  const run = world.start(plan, executor === undefined ? {} : { executor });
  const { status, ...end } = await world.end(run);
  const tree = run.tree();
  return { status, end, ran: await ran(world), tree: tree === undefined ? '' : treeToXml(tree) };
}

/** The nodes whose work was started, in order. */
async function ran(world: Harness): Promise<readonly string[]> {
  const events = (await world.runs.events(world.run, 0, 1000)).map(({ event }) => event);
  return events.flatMap(event => (event.type === 'task.started' ? [String(event.node)] : []));
}

it('[P342] `Recover` runs its fallback once something in it has failed, and the plan goes on', async () => {
  const plan = planOf(
    el(Phase, { name: 'a' }, el(Recover, { id: 'r', fallback: task('mend') }, task('bad', fails))),
    el(Phase, { name: 'b' }, task('after')),
  );
  const { status, ran, tree } = await ended(plan);
  expect({ status, ran }).toEqual({ status: 'completed', ran: ['bad', 'mend', 'after'] });
  expect(tree).toMatch(/<task id="bad"[^>]*status="failed"/);
  expect(tree).toMatch(/<task id="mend"[^>]*status="succeeded"/);
});

it('[P342] without a failure the fallback is not called', async () => {
  const Never = () => {
    throw new Error('called');
  };
  const { status, ran } = await ended(planOf(el(Recover, { fallback: el(Never, {}) }, task('good'))));
  expect({ status, ran }).toEqual({ status: 'completed', ran: ['good'] });
});

it('[P342] work beside the failure ends first, and nothing more of it begins', async () => {
  let end = () => {};
  const slow = () => new Promise(resolve => (end = () => resolve(1)));
  const world = harness();
  const content = [
    el(Phase, { name: 'a' }, task('bad', fails), task('slow', slow)),
    el(Phase, { name: 'b' }, task('c')),
  ];
  const run = world.start(planOf(el(Recover, { fallback: task('mend') }, ...content)));
  await world.calm();
  expect(await ran(world)).toEqual(['bad', 'slow']);
  end();
  expect(await world.end(run)).toMatchObject({ status: 'completed' });
  expect(await ran(world)).toEqual(['bad', 'slow', 'mend']);
});

it('[P342] a fallback that fails is a failure, which a Recover around it catches', async () => {
  const inner = (id?: string) => el(Recover, { id, fallback: task('worse', fails) }, task('bad', fails));
  expect(await ended(planOf(inner()))).toMatchObject({ status: 'failed', ran: ['bad', 'worse'] });
  const outer = planOf(el(Recover, { fallback: task('best') }, inner()));
  expect(await ended(outer)).toMatchObject({ status: 'completed', ran: ['bad', 'worse', 'best'] });
});

it('[P342] a fallback may be nothing', async () => {
  expect(await ended(planOf(el(Recover, { fallback: null }, task('bad', fails))))).toMatchObject({
    status: 'completed',
    ran: ['bad'],
  });
});

it('[P342] what a person denied or canceled is not caught', async () => {
  const denies: TaskExecutor = { execute: async () => ({ kind: 'done', output: { approved: false, rationale: '' } }) };
  const asks = planOf(el(Recover, { fallback: task('mend') }, el(Human, { id: 'ask', prompt: 'Deploy?' })));
  expect(await ended(asks, harness(), denies)).toMatchObject({ status: 'stopped', ran: ['ask'] });
  const world = harness();
  const hangs = ({ signal }: { signal: AbortSignal }) =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const run = world.start(planOf(el(Recover, { fallback: task('mend') }, task('a', hangs))));
  await world.calm();
  void run.cancel('a');
  expect(await world.end(run)).toMatchObject({ status: 'failed' });
  expect(await ran(world)).toEqual(['a']);
});

it('[P342] in a loop each turn starts with what is to be tried, and counts the turns of the loop', async () => {
  const seen: unknown[] = [];
  const note = (what: string, fail: (at: number) => boolean) => (given: { iteration: number }) => {
    seen.push([what, given.iteration]);
    if (fail(given.iteration)) throw new Error('no');
    return 1;
  };
  const body = el(
    Recover,
    {
      fallback: task(
        'mend',
        note('mend', () => false),
      ),
    },
    task(
      'try',
      note('try', at => at !== 1),
    ),
  );
  const plan = planOf(el(While, { condition: true, maxIterations: 3 }, body));
  expect(await ended(plan)).toMatchObject({ status: 'completed' });
  expect(seen).toEqual([
    ['try', 0],
    ['mend', 0],
    ['try', 1],
    ['try', 2],
    ['mend', 2],
  ]);
});

it('[P342] it is kept over a restart, and its replay finds every frame', async () => {
  const world = harness();
  let goes = false;
  const waits: TaskExecutor = {
    execute: async () => (goes ? { kind: 'done', output: { approved: true } } : { kind: 'blocked', reason: 'asked' }),
  };
  const below = definePlan({ name: 'below', render: () => task('inner', fails) });
  const plan = planOf(
    el(
      Recover,
      { fallback: el(Human, { id: 'ask', prompt: 'Mended by hand?' }) },
      el(SubPlan, { id: 'sub', plan: below }),
    ),
  );
  expect(await world.end(world.start(plan, { executor: waits }))).toEqual({ status: 'waiting' });
  goes = true;
  const resumed = world.resume(plan, { executor: waits });
  void resumed.wake('ask');
  expect(await world.end(resumed)).toMatchObject({ status: 'completed' });
  expect(await ran(world)).toEqual(['sub', 'ask', 'ask']);
  const frames = (await world.runs.run(world.run))?.frames;
  expect(await replayRun({ plan, run: world.run, reader: world.runs })).toMatchObject({ verified: frames });
});
