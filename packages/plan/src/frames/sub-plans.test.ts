import { deriveId, type Json, type RunId } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { el } from '../../test/elements.ts';
import { type Harness, harness } from '../../test/harness.ts';
import { Fragment } from '../jsx/element.ts';
import { Human, If, Phase, SubPlan, Task, While } from '../nodes/components.ts';
import { type AnyPlan, definePlan } from '../plan-definition.ts';
import type { PlanRun } from './engine-options.ts';
import type { TaskExecutor } from './task-executor.ts';

const childOf = (world: Harness, node: string, iteration = 0, restart = 0) =>
  deriveId<RunId>('sub-plan', world.run, node, iteration, restart);

const doubling = definePlan({
  name: 'doubling',
  input: z.object({ n: z.number() }),
  state: z.object({ twice: z.number().optional() }),
  render: ctx =>
    el(Task, {
      id: 'double',
      run: () => ctx.input.n * 2,
      onFinished: (twice: number) => ctx.state.set('twice', twice),
    }),
});

/** A plan with one sub-plan, and what became of it. */
const parentOf = (plan: AnyPlan, props: object = {}) =>
  definePlan({
    name: 'parent',
    state: z.object({ got: z.unknown().optional(), error: z.string().optional() }),
    render: ctx =>
      el(SubPlan, {
        id: 'sub',
        plan,
        onFinished: (output: Json) => ctx.state.set('got', output),
        onError: ({ error }: { error: { message: string } }) => ctx.state.set('error', error.message),
        ...props,
      }),
  });

const asking = definePlan({
  name: 'asking',
  state: z.object({ said: z.string().optional() }),
  render: ctx => el(Human, { id: 'ask', prompt: 'Well?', onFinished: (text: string) => ctx.state.set('said', text) }),
});

function person() {
  const answers = new Map<string, string>();
  let asked = 0;
  const executor: TaskExecutor = {
    async execute({ node }) {
      asked += 1;
      const output = answers.get(node.id);
      return output === undefined ? { kind: 'blocked', reason: 'approval_required:human' } : { kind: 'done', output };
    },
  };
  return { answers, executor, times: () => asked };
}

describe('a sub-plan', () => {
  it('[P62] is its own run, with its own record, and its output is the output of its node', async () => {
    const world = harness();
    const live: (readonly [RunId, PlanRun])[] = [];
    const plan = definePlan({
      name: 'parent',
      state: z.object({ got: z.array(z.unknown()).default([]) }),
      render: ctx =>
        el(While, { condition: () => ctx.state.get('got').length < 2 }, ({ iteration }: { iteration: number }) =>
          el(SubPlan, {
            id: 'sub',
            plan: doubling,
            input: { n: iteration + 1 },
            onFinished: (output: Json) => ctx.state.update('got', got => [...got, output]),
          }),
        ),
    });
    const end = await world.end(world.start(plan, { onRun: (...run) => void live.push(run) }));
    expect(end).toEqual({ status: 'completed', output: { got: [{ twice: 2 }, { twice: 4 }] } });
    const ids = [childOf(world, 'sub', 0), childOf(world, 'sub', 1)];
    expect(live.map(([run]) => run)).toEqual(ids);
    expect(await live[1]?.[1].finished).toEqual({ status: 'completed', output: { twice: 4 } });
    expect(await world.runs.run(ids[1] as RunId)).toMatchObject({
      name: 'doubling',
      status: 'completed',
      input: { n: 2 },
      limits: {},
      origin: { kind: 'sub-plan', run: world.run, node: 'sub', iteration: 1 },
      output: { twice: 4 },
    });
    // Both may be created in one millisecond, and are then in the order of their ids.
    expect(new Set((await world.runs.children(world.run)).map(({ id }) => id))).toEqual(new Set(ids));
  });

  it('[P62] takes source, tags and the retry limit from its parent', async () => {
    const world = harness();
    const source = { root: '/', entry: '/p.tsx', files: [], packages: [], engine: 'e' };
    const create = {
      name: 'x',
      tags: ['t'],
      mode: 'AUTO',
      globalMode: 'PLANNING',
      input: null,
      limits: { maxRetriesPerTask: 1, maxTotalTokens: 5 },
      seed: 1,
      source,
      workingDirectory: '/work',
    } as const;
    await world.end(world.start(parentOf(doubling, { input: { n: 1 } }), { create }));
    expect(await world.runs.run(childOf(world, 'sub'))).toMatchObject({
      source,
      workingDirectory: '/work',
      tags: ['t'],
      globalMode: 'PLANNING',
      limits: { maxRetriesPerTask: 1 },
    });
  });

  it('[P63] that failed or was stopped fails its node, once', async () => {
    let runs = 0;
    const failing = definePlan({
      name: 'failing',
      render: () =>
        el(Task, {
          id: 'bad',
          retries: 0,
          run: () => {
            runs += 1;
            throw Object.assign(new Error('busy'), { status: 503 });
          },
        }),
    });
    const world = harness();
    expect(await world.end(world.start(parentOf(failing)))).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('sub_plan_failed: Run') },
    });
    expect(runs).toBe(1);
    expect(await world.state()).toEqual({ error: expect.stringContaining('Node bad failed: busy') });

    const stopped = harness();
    const live: PlanRun[] = [];
    const slow = definePlan({ name: 'slow', render: () => el(Task, { id: 't', run: () => new Promise(() => {}) }) });
    const run = stopped.start(parentOf(slow), { onRun: (_, child) => void live.push(child) });
    await stopped.calm();
    void live[0]?.stop('enough');
    expect(await stopped.end(run)).toMatchObject({ status: 'failed' });
    expect(await stopped.state()).toEqual({ error: expect.stringContaining('was stopped: enough') });
  });

  it('[P63] that is retried starts another run', async () => {
    const world = harness();
    let isBroken = true;
    const failing = definePlan({
      name: 'failing',
      render: () =>
        el(Task, {
          id: 't',
          run: () => {
            if (isBroken) throw new Error('no');
            return 1;
          },
        }),
    });
    const plan = parentOf(failing);
    expect(await world.end(world.start(plan))).toMatchObject({ status: 'failed' });
    isBroken = false;
    const again = world.resume(plan);
    void again.retry('sub');
    expect(await world.end(again)).toMatchObject({ status: 'completed' });
    expect((await world.runs.run(childOf(world, 'sub')))?.status).toBe('failed');
    expect((await world.runs.run(childOf(world, 'sub', 0, 1)))?.status).toBe('completed');
  });

  it('[P64] that waits blocks its node, and continues where it was when the node is woken', async () => {
    const world = harness();
    const { answers, executor } = person();
    const plan = parentOf(asking);
    const first = world.start(plan, { executor });
    expect(await world.end(first)).toEqual({ status: 'waiting' });
    expect(first.tree()?.children[0]?.status).toBe('blocked');
    expect(await world.runs.run(childOf(world, 'sub'))).toMatchObject({ status: 'waiting', frames: 2 });
    expect((await world.runs.tasks(world.run)).map(({ status, blockReason }) => [status, blockReason])).toEqual([
      ['pending', 'sub_plan_waiting'],
    ]);
    answers.set('ask', 'yes');
    expect(await world.end(world.resume(plan, { executor }))).toEqual({
      status: 'completed',
      output: { got: { said: 'yes' } },
    });
    expect((await world.runs.tasks(world.run)).map(({ status, retryCount }) => [status, retryCount])).toEqual([
      ['done', 0],
    ]);
    expect((await world.runs.children(world.run)).length).toBe(1);
  });

  it('[P64] that waits continues when its node is woken, while the parent keeps working', async () => {
    const world = harness();
    const { answers, executor } = person();
    let release = () => {};
    const plan = definePlan({
      name: 'both',
      state: z.object({ got: z.unknown().optional() }),
      render: ctx =>
        el(
          Fragment,
          {},
          el(SubPlan, { id: 'sub', plan: asking, onFinished: (output: Json) => ctx.state.set('got', output) }),
          el(Task, {
            id: 'slow',
            run: () =>
              new Promise<null>(resolve => {
                release = () => resolve(null);
              }),
          }),
        ),
    });
    const run = world.start(plan, { executor });
    await world.calm();
    expect(run.tree()?.children[0]?.status).toBe('blocked');
    answers.set('ask', 'now');
    const woken = run.wake('sub');
    await world.calm();
    expect(await woken).toBe('done');
    expect(run.tree()?.children[0]?.status).toBe('succeeded');
    release();
    expect(await world.end(run)).toEqual({ status: 'completed', output: { got: { said: 'now' } } });
  });

  it('[P65] is paused with its parent, and continues with it', async () => {
    const world = harness();
    let release = (_: number) => {};
    const two = definePlan({
      name: 'two',
      render: () =>
        el(
          Fragment,
          {},
          el(
            Phase,
            { name: 'a' },
            el(Task, {
              id: 'a',
              run: () =>
                new Promise<number>(resolve => {
                  release = resolve;
                }),
            }),
          ),
          el(Phase, { name: 'b' }, el(Task, { id: 'b', run: () => 2 })),
        ),
    });
    const plan = parentOf(two);
    const run = world.start(plan);
    await world.calm();
    const paused = run.pause('ada');
    await world.calm();
    expect(await paused).toBe('done');
    release(1);
    expect(await world.end(run)).toEqual({ status: 'paused' });
    expect((await world.runs.run(childOf(world, 'sub')))?.status).toBe('paused');
    expect((await world.runs.tasks(childOf(world, 'sub'))).map(({ node }) => node)).toEqual(['a']);
    expect(await world.end(world.resume(plan))).toMatchObject({ status: 'completed' });
    expect((await world.runs.tasks(childOf(world, 'sub'))).map(({ node, status }) => [node, status])).toEqual([
      ['a', 'done'],
      ['b', 'done'],
    ]);
  });

  it('[P65] is stopped when its node leaves the plan or is canceled, whether it works or waits', async () => {
    for (const [child, how] of [
      [definePlan({ name: 'slow', render: () => el(Task, { id: 't', run: () => new Promise(() => {}) }) }), 'leave'],
      [asking, 'leave'],
      [asking, 'cancel'],
    ] as const) {
      const world = harness();
      const { executor } = person();
      let release = () => {};
      const plan = definePlan({
        name: 'leaving',
        state: z.object({ stay: z.boolean().default(true) }),
        render: ctx =>
          el(
            Fragment,
            {},
            el(If, { condition: ctx.state.get('stay') }, el(SubPlan, { id: 'sub', plan: child })),
            el(Task, {
              id: 'slow',
              run: () =>
                new Promise<null>(resolve => {
                  release = () => resolve(null);
                }),
              onFinished: () => ctx.state.set('stay', how === 'cancel'),
            }),
          ),
      });
      const run = world.start(plan, { executor });
      await world.calm();
      if (how === 'cancel') void run.cancel('sub');
      release();
      expect((await world.end(run)).status).toBe(how === 'cancel' ? 'failed' : 'completed');
      const record = await world.runs.run(childOf(world, 'sub'));
      expect([record?.status, record?.stopReason]).toEqual(['stopped', `Node sub of run ${world.run} was canceled.`]);
      expect((await world.runs.tasks(childOf(world, 'sub'))).map(({ status }) => status)).toEqual(['canceled']);
    }
  });

  it('[P65] is stopped with its parent, and continues where it was when the parent is resumed', async () => {
    const world = harness();
    const runs: string[] = [];
    let isSlow = true;
    const two = definePlan({
      name: 'two',
      render: () =>
        el(
          Fragment,
          {},
          el(Phase, { name: 'a' }, el(Task, { id: 'a', run: () => void runs.push('a') })),
          el(
            Phase,
            { name: 'b' },
            el(Task, { id: 'b', run: () => (isSlow ? new Promise(() => {}) : void runs.push('b')) }),
          ),
        ),
    });
    const plan = parentOf(two);
    const run = world.start(plan, { stopGraceMs: 10 });
    await world.calm();
    void run.stop('later');
    expect(await world.end(run)).toEqual({ status: 'stopped', reason: 'later' });
    expect((await world.runs.run(childOf(world, 'sub')))?.status).toBe('stopped');
    isSlow = false;
    expect(await world.end(world.resume(plan))).toMatchObject({ status: 'completed' });
    expect(runs).toEqual(['a', 'b']);
    expect((await world.runs.children(world.run)).map(({ status }) => status)).toEqual(['completed']);
  });

  it('[P66] cannot nest without end', async () => {
    const world = harness();
    const endless: AnyPlan = definePlan({
      name: 'endless',
      render: () => el(SubPlan, { id: 'again', plan: endless }),
    });
    const end = await world.end(world.start(endless));
    expect(end).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('Plans nest deeper than 16 levels at node again') },
    });
    expect((await world.runs.runs({ limit: 100 })).items.length).toBe(17);
  });

  it('[P66] that ran out of time is stopped', async () => {
    const world = harness();
    const slow = definePlan({ name: 'slow', render: () => el(Task, { id: 't', run: () => new Promise(() => {}) }) });
    const run = world.start(parentOf(slow, { timeoutMs: 50 }), { stopGraceMs: 10 });
    expect(await world.end(run)).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('timeout') },
    });
    expect((await world.runs.run(childOf(world, 'sub')))?.status).toBe('stopped');
  });
});
