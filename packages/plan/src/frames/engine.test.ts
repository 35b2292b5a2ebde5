import { eventType } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { el } from '../../test/elements.ts';
import { harness } from '../../test/harness.ts';
import { Fragment } from '../jsx/element.ts';
import { Each, End, If, Parallel, Phase, Ralph, Step, Stop, Task, While } from '../nodes/components.ts';
import { definePlan } from '../plan-definition.ts';

const counter = z.object({ n: z.number().default(0), log: z.array(z.string()).default([]) });

describe('a run', () => {
  it('[P40] runs a task and its handler, applies its writes, and completes', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'hello',
      input: z.object({ name: z.string() }),
      state: z.object({ greeting: z.string().optional() }),
      render: ctx =>
        el(
          Phase,
          { name: 'greet' },
          el(Task, {
            id: 'hello',
            run: async () => `Hello ${ctx.input.name}`,
            onFinished: (text: string) => ctx.state.set('greeting', text),
          }),
        ),
    });
    const end = await world.end(world.start(plan, { input: { name: 'Ada' } }));
    expect(end).toEqual({ status: 'completed', output: { greeting: 'Hello Ada' } });
    expect(await world.state()).toEqual({ greeting: 'Hello Ada' });
    expect(await world.runs.run(world.run)).toMatchObject({
      status: 'completed',
      frames: 2,
      phase: 'DONE',
      version: 2,
    });
    expect(await world.events()).toEqual([
      'run.created',
      'task.started',
      'node.status',
      'frame.committed',
      'task.ended',
      'state.changed',
      'handler.ran',
      'node.status',
      'run.status',
      'run.phase',
      'frame.committed',
    ]);
  });

  it('[P40] the end of a task, its handler and its writes are in one commit', async () => {
    const world = harness();
    const commits: object[] = [];
    const plan = definePlan({
      name: 'one-commit',
      state: counter,
      render: ctx =>
        el(Task, {
          id: 't',
          run: () => 5,
          onFinished: (n: number) => {
            ctx.state.set('n', n);
            ctx.state.update('n', value => value + 1);
            ctx.state.set('log', ['done'], { trigger: 'mine' });
          },
        }),
    });
    await world.end(
      world.start(plan, {
        commit: {
          commit(writes, guard) {
            commits.push({
              tasks: writes.tasks?.map(task => task.status),
              handlers: writes.events?.filter(event => eventType(event) === 'handler.ran').length,
              transitions: writes.transitions?.map(({ key, trigger, node, handler, frame, index }) => [
                key,
                trigger,
                node,
                handler,
                frame,
                index,
              ]),
            });
            return world.runs.commit(writes, guard);
          },
        },
      }),
    );
    expect(commits).toEqual([
      {
        tasks: ['running'],
        handlers: 0,
        transitions: [
          ['n', 'plan.initial', undefined, undefined, 0, 0],
          ['log', 'plan.initial', undefined, undefined, 0, 1],
        ],
      },
      {
        tasks: ['done'],
        handlers: 1,
        transitions: [
          ['n', 'task.finished', 't', 'onFinished', 0, 2],
          ['n', 'task.finished', 't', 'onFinished', 0, 3],
          ['log', 'mine', 't', 'onFinished', 0, 4],
        ],
      },
    ]);
  });

  it('[P40] work starts only after its frame is committed', async () => {
    const world = harness();
    const order: string[] = [];
    const plan = definePlan({ name: 'order', render: () => el(Task, { id: 't', run: () => void order.push('work') }) });
    await world.end(
      world.start(plan, {
        commit: {
          async commit(writes, guard) {
            const committed = await world.runs.commit(writes, guard);
            order.push('committed');
            return committed;
          },
        },
      }),
    );
    expect(order).toEqual(['committed', 'work', 'committed']);
  });

  it('[P41] phases, steps, parallel work and a loop run in their order', async () => {
    const world = harness();
    const order: string[] = [];
    const work = (id: string) => el(Task, { id, run: () => void order.push(id) });
    const plan = definePlan({
      name: 'story',
      state: counter,
      render: ctx =>
        el(
          Fragment,
          {},
          el(Phase, { name: 'one' }, el(Step, {}, work('a'), work('b')), el(Step, {}, work('c'))),
          el(
            Phase,
            { name: 'two' },
            el(
              Ralph,
              { id: 'loop', until: () => ctx.state.get('n') >= 2, maxIterations: 5 },
              ({ iteration }: { iteration: number }) =>
                el(Task, {
                  id: 'body',
                  run: () => void order.push(`body${iteration}`),
                  onFinished: () => ctx.state.update('n', n => n + 1),
                }),
            ),
          ),
          el(Phase, { name: 'three' }, el(Parallel, { limit: 1 }, work('x'), work('y'))),
        ),
    });
    expect(await world.end(world.start(plan))).toMatchObject({ status: 'completed', output: { n: 2 } });
    expect(order).toEqual(['a', 'b', 'c', 'body0', 'body1', 'x', 'y']);
  });

  it('[P41] a loop ends gracefully at its maximum', async () => {
    const world = harness();
    let runs = 0;
    const plan = definePlan({
      name: 'max',
      render: () => el(While, { condition: true, maxIterations: 4 }, el(Task, { id: 't', run: () => void runs++ })),
    });
    const run = world.start(plan);
    expect(await world.end(run)).toEqual({ status: 'completed', output: {} });
    expect(runs).toBe(4);
  });

  it('[P44] writes and work during a render are errors that name run, frame and the last three changes', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'impure',
      state: counter,
      render: ctx => {
        if (ctx.state.get('n') > 3) ctx.state.set('n', 0);
        return el(
          While,
          { condition: true },
          el(Task, { id: 't', run: () => 1, onFinished: () => ctx.state.update('n', n => n + 1) }),
        );
      },
    });
    expect(await world.end(world.start(plan))).toEqual({
      status: 'failed',
      error: {
        class: 'terminal',
        code: 'plan/render-write',
        message: `ctx.state.set cannot be called during a render; use an Effect or a handler [run ${world.run}; frame 4; last changes n (frame 1, task.finished), n (frame 2, task.finished), n (frame 3, task.finished)]`,
      },
    });
    expect(await world.state()).toEqual({ n: 4, log: [] });
    const async = harness();
    const Work = async () => null;
    const end = await async.end(async.start(definePlan({ name: 'async', render: () => el(Work, { line: 3 }) })));
    expect(end).toMatchObject({
      status: 'failed',
      error: {
        code: 'plan/render-task',
        message: expect.stringContaining('<Work> is async; a render only reads and computes at plan.tsx:3:1'),
      },
    });
  });

  it('[P44] init is the only write that a render may request', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'init',
      state: z.object({ first: z.number().optional(), n: z.number().default(5) }),
      render: ctx => {
        ctx.state.init('first', 1);
        ctx.state.init('n', 9);
        return el(Task, { id: 't', run: () => 1 });
      },
    });
    expect(await world.end(world.start(plan))).toEqual({ status: 'completed', output: { first: 1, n: 5 } });
  });

  it('[P46] Stop cancels running work and stops the run with its reason; End lets it finish', async () => {
    const world = harness();
    const plan = (ending: unknown) =>
      definePlan({
        name: 'ends',
        state: z.object({ over: z.boolean().default(false) }),
        render: ctx =>
          el(
            Fragment,
            {},
            el(Task, {
              id: 'long',
              run: ({ signal }: { signal: AbortSignal }) =>
                new Promise((resolve, reject) => {
                  signal.addEventListener('abort', () => reject(new Error('aborted')));
                  setImmediate(() => setImmediate(() => resolve('whole')));
                }),
            }),
            el(Task, { id: 'quick', run: () => 1, onFinished: () => ctx.state.set('over', true) }),
            el(If, { condition: ctx.state.get('over') }, ending),
          ),
      });
    expect(await world.end(world.start(plan(el(Stop, { reason: 'enough' }))))).toEqual({
      status: 'stopped',
      reason: 'enough',
    });
    expect((await world.runs.tasks(world.run)).map(({ node, status }) => [node, status])).toEqual([
      ['long', 'canceled'],
      ['quick', 'done'],
    ]);
    expect(await world.runs.run(world.run)).toMatchObject({ status: 'stopped', stopReason: 'enough' });
    const other = harness();
    expect(
      await other.end(other.start(plan(el(Fragment, {}, el(End, {}), el(Task, { id: 'never', run: () => 1 }))))),
    ).toMatchObject({ status: 'completed' });
    expect((await other.runs.tasks(other.run)).map(({ node, status }) => [node, status])).toEqual([
      ['long', 'done'],
      ['quick', 'done'],
    ]);
  });

  it('[P47] an invalid input fails the run before any frame', async () => {
    const world = harness();
    const plan = definePlan({ name: 'input', input: z.object({ n: z.number() }), render: () => null });
    expect(await world.end(world.start(plan, { input: { n: 'x' } }))).toMatchObject({
      status: 'failed',
      error: { code: 'plan/input-invalid', message: expect.stringContaining('n: ') },
    });
    expect(await world.runs.run(world.run)).toMatchObject({ status: 'failed', frames: 0 });
  });

  it('[P47] a run that ended before its first frame can be resumed, however much it remembers', async () => {
    const world = harness();
    const keys = Array.from({ length: 250 }, (_, index) => [`k${index}`, z.number().default(index)] as const);
    const plan = definePlan({
      name: 'early',
      state: z.object({ ...Object.fromEntries(keys), n: z.number().default(0) }),
      render: ctx => el(Task, { id: 't', run: () => 1, onFinished: () => ctx.state.set('n', 1) }),
    });
    const run = world.start(plan);
    void run.terminate('not yet');
    expect(await world.end(run)).toEqual({ status: 'stopped', reason: 'not yet' });
    expect(await world.end(world.resume(plan))).toMatchObject({ status: 'completed', output: { n: 1, k249: 249 } });
  });

  it('[P51] a frame records its trigger, added and removed nodes, and the keys read and written', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'records',
      state: counter,
      render: ctx =>
        el(Each, { items: ctx.state.get('n') === 0 ? ['a'] : ['b'] }, (id: string) =>
          el(Task, { key: id, id, run: () => 1, onFinished: () => ctx.state.set('n', 1) }),
        ),
    });
    await world.end(world.start(plan));
    const frames = await world.runs.frames(world.run, 0, 10);
    expect(
      frames.map(({ index, trigger, mounted, unmounted, written, verifiable }) => ({
        index,
        trigger: [trigger.kind, trigger.keys],
        mounted: mounted.length,
        unmounted,
        written,
        verifiable,
      })),
    ).toEqual([
      {
        index: 0,
        trigger: ['start', ['n', 'log']],
        mounted: 3,
        unmounted: [],
        written: ['n', 'log'],
        verifiable: true,
      },
      { index: 1, trigger: ['task', ['n']], mounted: 1, unmounted: ['a'], written: ['n'], verifiable: true },
      { index: 2, trigger: ['task', undefined], mounted: 0, unmounted: [], written: [], verifiable: true },
    ]);
    expect(await world.runs.at(world.run, 'read', 2)).toEqual(new Map([['n', true]]));
    expect([...(await world.runs.at(world.run, 'node', 0)).keys()]).toContain('a');
    expect([...(await world.runs.at(world.run, 'node', 1)).keys()]).not.toContain('a');
  });

  it('[P59] a run is in its VERIFY phase while a Phase of that name runs, and then done', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'phases',
      render: () =>
        el(
          Fragment,
          {},
          ...['build', 'Verify', 'publish'].map(name => el(Phase, { name }, el(Task, { id: name, run: () => 1 }))),
        ),
    });
    await world.end(world.start(plan));
    const events = (await world.runs.events(world.run, 0, 1000)).map(({ event }) => event);
    expect(events.flatMap(event => (event.type === 'run.phase' ? [event.phase] : []))).toEqual([
      'VERIFY',
      'EXECUTE',
      'DONE',
    ]);
    expect(await world.runs.run(world.run)).toMatchObject({ phase: 'DONE', status: 'completed' });
  });

  it('[P51] a failed commit ends the engine and its work', async () => {
    const world = harness();
    let commits = 0;
    let aborted = false;
    const plan = definePlan({
      name: 'lost',
      render: () =>
        el(
          Fragment,
          {},
          el(Task, { id: 'a', run: () => 1 }),
          el(Task, {
            id: 'b',
            run: ({ signal }: { signal: AbortSignal }) =>
              new Promise(() =>
                signal.addEventListener('abort', () => {
                  aborted = true;
                }),
              ),
          }),
        ),
    });
    const error = {
      code: 'store/outcome-unknown',
      message: 'gone',
      retry: { kind: 'not_retryable' },
      suggestion: 'look',
    } as const;
    const end = await world.end(
      world.start(plan, {
        commit: {
          commit: async (writes, guard) => (++commits === 2 ? { ok: false, error } : world.runs.commit(writes, guard)),
        },
      }),
    );
    expect([end, aborted]).toEqual([{ status: 'lost', error }, true]);
  });
});
