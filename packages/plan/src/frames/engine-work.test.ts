import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { el } from '../../test/elements.ts';
import { harness } from '../../test/harness.ts';
import { Fragment } from '../jsx/element.ts';
import { Claude, Human, If, Phase, Task } from '../nodes/components.ts';
import { definePlan } from '../plan-definition.ts';
import type { TaskExecutor } from './task-executor.ts';

const counter = z.object({ n: z.number().default(0), log: z.array(z.string()).default([]) });

describe('the work of a run', () => {
  it('[P42] a failed task calls its handler, holds up what follows, and fails the run', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'fails',
      state: z.object({ seen: z.string().optional() }),
      render: ctx =>
        el(
          Fragment,
          {},
          el(
            Phase,
            { name: 'a' },
            el(Task, {
              id: 'bad',
              run: () => {
                throw new RangeError('no');
              },
              onError: ({ error, attempts }: { error: { code: string }; attempts: number }) =>
                ctx.state.set('seen', `${error.code} ${attempts}`),
            }),
          ),
          el(Phase, { name: 'b' }, el(Task, { id: 'never', run: () => 1 })),
        ),
    });
    expect(await world.end(world.start(plan))).toEqual({
      status: 'failed',
      error: { class: 'terminal', code: 'plan/task-failed', message: 'Node bad failed: RangeError: no' },
    });
    expect(await world.state()).toEqual({ seen: 'plan/task-failed 4' });
    expect((await world.runs.tasks(world.run)).map(task => [task.node, task.status])).toEqual([['bad', 'error']]);
  });

  it('[P42] a plan may render something else when work failed, and continues', async () => {
    const world = harness();
    const plan = definePlan({
      name: 'recovers',
      state: z.object({ broken: z.boolean().default(false) }),
      render: ctx =>
        el(
          If,
          {
            condition: ctx.state.get('broken'),
            else: el(Task, {
              id: 'bad',
              run: () => {
                throw new Error('no');
              },
              onError: () => ctx.state.set('broken', true),
            }),
          },
          el(Task, { id: 'repair', run: () => 'ok' }),
        ),
    });
    const run = world.start(plan);
    expect(await world.end(run)).toMatchObject({ status: 'completed' });
    expect(JSON.stringify(run.tree())).toContain('"id":"bad","status":"skipped"');
  });

  it('[P42] failures that may pass are retried after a wait, at most three times', async () => {
    const world = harness();
    const attempts: number[] = [];
    const busy = () => Object.assign(new Error('busy'), { status: 503 });
    const plan = (ok: number) =>
      definePlan({
        name: 'retries',
        render: () =>
          el(Task, {
            id: 't',
            run: ({ attempt }: { attempt: number }) => {
              attempts.push(attempt);
              if (attempt < ok) throw busy();
              return 1;
            },
          }),
      });
    expect(await world.end(world.start(plan(3)))).toMatchObject({ status: 'completed' });
    expect(attempts).toEqual([1, 2, 3]);
    const other = harness();
    expect(await other.end(other.start(plan(9)))).toMatchObject({ status: 'failed' });
    expect(attempts.slice(3)).toEqual([1, 2, 3, 4]);
  });

  it('[P42] work that exceeds its time fails with that reason', async () => {
    const world = harness();
    let reason: unknown;
    const plan = definePlan({
      name: 'slow',
      render: () =>
        el(Task, {
          id: 't',
          timeoutMs: 50,
          retries: 0,
          run: ({ signal }: { signal: AbortSignal }) =>
            new Promise(() =>
              signal.addEventListener('abort', () => {
                reason = signal.reason;
              }),
            ),
        }),
    });
    expect(await world.end(world.start(plan))).toMatchObject({
      status: 'failed',
      error: { message: expect.stringMatching(/^Node t failed: timeout: Error: no end after 50 ms/) },
    });
    expect(reason).toEqual(new Error('no end after 50 ms'));
  });

  it('[P43] a handler that throws, is async or writes an invalid value leaves no trace but its failure', async () => {
    for (const [handler, message] of [
      [
        () => {
          throw new Error('oops');
        },
        'onFinished of node t failed: oops',
      ],
      [async () => {}, 'onFinished must not be async'],
      [
        (ctx: { state: { set(key: string, value: unknown): void } }) => ctx.state.set('n', 'text'),
        "'n' does not fit the state",
      ],
      [
        (ctx: { state: { update(key: string, reduce: () => unknown): void } }) => ctx.state.update('n', () => 'text'),
        "'n' does not fit the state",
      ],
    ] as const) {
      const world = harness();
      const plan = definePlan({
        name: 'handlers',
        state: counter,
        render: ctx =>
          el(Task, {
            id: 't',
            run: () => 1,
            onFinished: () => {
              ctx.state.set('log', ['before']);
              return (handler as (ctx: unknown) => unknown)(ctx);
            },
          }),
      });
      const end = await world.end(world.start(plan));
      expect(end).toMatchObject({ status: 'failed', error: { message: expect.stringContaining(message) } });
      expect(await world.state()).toEqual({ n: 0, log: [] });
      expect(await world.events()).toContain('handler.failed');
    }
  });

  it('[P45] a node that leaves the plan is canceled, and its late result is stored without handlers', async () => {
    const world = harness();
    let release = (_: string) => {};
    let aborted = false;
    const plan = definePlan({
      name: 'leaves',
      state: z.object({ stay: z.boolean().default(true), late: z.boolean().default(false) }),
      render: ctx =>
        el(
          Fragment,
          {},
          ctx.state.get('stay') &&
            el(Task, {
              id: 'slow',
              run: ({ signal }: { signal: AbortSignal }) => {
                signal.addEventListener('abort', () => {
                  aborted = true;
                });
                return new Promise<string>(resolve => {
                  release = resolve;
                });
              },
              onFinished: () => ctx.state.set('late', true),
            }),
          el(Task, { id: 'quick', run: () => 1, onFinished: () => ctx.state.set('stay', false) }),
        ),
    });
    const run = world.start(plan);
    await world.calm();
    expect(aborted).toBe(true);
    release('too late');
    expect(await world.end(run)).toMatchObject({ status: 'completed', output: { stay: false, late: false } });
    expect((await world.runs.tasks(world.run)).map(({ node, status, result }) => [node, status, result])).toEqual([
      ['slow', 'canceled', 'too late'],
      ['quick', 'done', 1],
    ]);
    const ends = (await world.runs.events(world.run, 0, 1000))
      .map(({ event }) => event)
      .filter(event => event.type === 'task.ended');
    expect(ends.map(event => [event.node, event.outcome, event.stale])).toEqual([
      ['quick', 'done', false],
      ['slow', 'canceled', true],
    ]);
  });

  it('[P45] a run resumed with another plan cancels what is no longer in it', async () => {
    const world = harness();
    const planOf = (id: string) =>
      definePlan({
        name: 'changed',
        render: () => el(Task, { id, run: () => (id === 'old' ? new Promise(() => {}) : 1) }),
      });
    void world.start(planOf('old'));
    await world.calm();
    expect(await world.end(world.resume(planOf('new')))).toMatchObject({ status: 'completed' });
    expect((await world.runs.tasks(world.run)).map(({ node, status }) => [node, status])).toEqual([
      ['old', 'canceled'],
      ['new', 'done'],
    ]);
    const [, taken] = await world.runs.frames(world.run, 0, 10);
    expect({ trigger: taken?.trigger.kind, mounted: taken?.mounted, unmounted: taken?.unmounted }).toEqual({
      trigger: 'resume',
      mounted: ['new'],
      unmounted: ['old'],
    });
    expect([...(await world.runs.at(world.run, 'node', 1)).keys()]).not.toContain('old');
  });

  it('[P45] a node that returns runs again', async () => {
    const world = harness();
    let runs = 0;
    const plan = definePlan({
      name: 'returns',
      state: counter,
      render: ctx =>
        ctx.state.get('n') === 1
          ? el(Task, { id: 'between', key: 'between', run: () => 1, onFinished: () => ctx.state.set('n', 2) })
          : el(Task, {
              id: 't',
              run: () => ++runs,
              onFinished: () => ctx.state.get('n') === 0 && ctx.state.set('n', 1),
            }),
    });
    expect(await world.end(world.start(plan))).toMatchObject({ status: 'completed', output: { n: 2 } });
    expect(runs).toBe(2);
    expect(new Set((await world.runs.tasks(world.run, { node: 't' as never })).map(task => task.id)).size).toBe(2);
  });

  it('[P48] work that waits for a person leaves the run waiting; it continues when it is resumed', async () => {
    const world = harness();
    let answer: string | undefined;
    const executor: TaskExecutor = {
      execute: async () =>
        answer === undefined
          ? { kind: 'blocked', reason: 'approval_required:human' }
          : { kind: 'done', output: answer },
    };
    const plan = definePlan({
      name: 'human',
      state: z.object({ said: z.string().optional() }),
      render: ctx =>
        el(Human, { id: 'ask', prompt: 'Well?', onFinished: (text: string) => ctx.state.set('said', text) }),
    });
    const first = world.start(plan, { executor });
    expect(await world.end(first)).toEqual({ status: 'waiting' });
    expect(first.tree()?.children[0]?.status).toBe('blocked');
    expect(await world.runs.run(world.run)).toMatchObject({ status: 'waiting' });
    answer = 'yes';
    const second = world.resume(plan, { executor });
    second.wake('ask');
    expect(await world.end(second)).toEqual({ status: 'completed', output: { said: 'yes' } });
  });

  it('[P49] a pause does not wait for the time of a next attempt, which is stored', async () => {
    const world = harness();
    const attempts: number[] = [];
    const plan = definePlan({
      name: 'busy',
      render: () =>
        el(Task, {
          id: 't',
          run: ({ attempt }: { attempt: number }) => {
            attempts.push(attempt);
            if (attempt === 1) throw Object.assign(new Error('busy'), { status: 503 });
          },
        }),
    });
    const first = world.start(plan);
    while ((await world.runs.tasks(world.run, { status: ['pending'] })).length === 0) await world.calm();
    const begun = world.now();
    first.pause();
    expect(await world.end(first)).toEqual({ status: 'paused' });
    expect([attempts, world.now()]).toEqual([[1], begun]);
    expect(await world.end(world.resume(plan))).toMatchObject({ status: 'completed' });
    expect(attempts).toEqual([1, 2]);
    expect(world.now() > begun).toBe(true);
  });

  it('[P49] an operator pauses, retries and cancels', async () => {
    const world = harness();
    const runs: string[] = [];
    let isBroken = true;
    const plan = definePlan({
      name: 'operated',
      render: () =>
        el(
          Fragment,
          {},
          el(
            Phase,
            { name: 'a' },
            el(Task, {
              id: 'a',
              retries: 0,
              run: () => {
                runs.push('a');
                if (isBroken) throw new Error('no');
                return 1;
              },
            }),
          ),
          el(Phase, { name: 'b' }, el(Task, { id: 'b', run: () => void runs.push('b') })),
        ),
    });
    expect(await world.end(world.start(plan))).toMatchObject({ status: 'failed' });
    isBroken = false;
    const again = world.resume(plan);
    again.retry('a');
    again.pause();
    expect(await world.end(again)).toEqual({ status: 'paused' });
    const last = world.resume(plan);
    expect(await world.end(last)).toMatchObject({ status: 'completed' });
    expect(runs).toEqual(['a', 'a', 'b']);

    const other = harness();
    const canceled = other.start(
      definePlan({
        name: 'cancel',
        render: () =>
          el(Task, {
            id: 't',
            run: ({ signal }: { signal: AbortSignal }) =>
              new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
          }),
      }),
    );
    await other.calm();
    canceled.cancel('t');
    expect(await other.end(canceled)).toMatchObject({
      status: 'failed',
      error: { message: 'Node t failed: it was canceled' },
    });
  });

  it('[P50] an agent gets the data of its node, and its result reaches the handler', async () => {
    const world = harness();
    const asked: unknown[] = [];
    const executor: TaskExecutor = {
      async execute({ node, attempt, iteration, progress }) {
        asked.push([node.kind, node.data, attempt, iteration]);
        progress({ summary: 'half', fraction: 0.5 });
        return { kind: 'done', output: 'four' };
      },
    };
    const plan = definePlan({
      name: 'agent',
      state: z.object({ said: z.string().optional(), seen: z.string().optional() }),
      render: ctx =>
        el(Claude, {
          id: 'c',
          model: 'sonnet',
          prompt: '2+2?',
          onFinished: (text: string) => ctx.state.set('said', text),
          onProgress: (p: { summary: string }) => ctx.state.set('seen', p.summary),
        }),
    });
    expect(await world.end(world.start(plan, { executor }))).toEqual({
      status: 'completed',
      output: { said: 'four', seen: 'half' },
    });
    expect(asked).toEqual([
      [
        'claude',
        { model: 'sonnet', prompt: '2+2?', maxTurns: 50, resume: 'continue', permissions: 'skip', retries: 3 },
        1,
        0,
      ],
    ]);
  });

  it('[P79] the output of an agent or a person goes through the author’s own schema before a handler sees it', async () => {
    const schema = z.object({ score: z.number().int().default(1), tags: z.array(z.string()) });
    const runWith = async (output: unknown, kind: typeof Claude | typeof Human) => {
      const world = harness();
      const plan = definePlan({
        name: 'checked',
        state: z.object({ got: z.unknown().optional(), error: z.unknown().optional() }),
        render: ctx =>
          el(kind, {
            id: 'c',
            prompt: 'p',
            schema,
            onFinished: (value: unknown) => ctx.state.set('got', value),
            onError: ({ error, attempts }: { error: { details?: object; message: string }; attempts: number }) =>
              ctx.state.set('error', { ...error.details, attempts }),
          }),
      });
      const executor: TaskExecutor = { execute: async () => ({ kind: 'done', output: output as never }) };
      const end = await world.end(world.start(plan, { executor }));
      return { end, state: await world.state(), tasks: await world.runs.tasks(world.run) };
    };
    for (const kind of [Claude, Human]) {
      const good = await runWith({ tags: ['a'] }, kind);
      expect([good.end.status, good.state]).toEqual(['completed', { got: { score: 1, tags: ['a'] } }]);
      expect(good.tasks[0]?.result).toEqual({ tags: ['a'] });
      const bad = await runWith({ tags: ['a', 2] }, kind);
      expect(bad.state).toEqual({ error: { node: 'c', code: 'output-invalid', class: 'terminal', attempts: 1 } });
      expect(bad.end).toMatchObject({
        status: 'failed',
        error: { message: expect.stringContaining('output-invalid: tags.1: Invalid input') },
      });
    }
  });

  it('[P60] interrupted work with effects outside waits for a person; other work starts again at once', async () => {
    for (const effects of ['none', 'external'] as const) {
      const world = harness();
      let runs = 0;
      const work = () => (++runs === 1 ? new Promise(() => {}) : 'ok');
      const plan = definePlan({ name: 'cut', render: () => el(Task, { id: 't', effects, run: work }) });
      void world.start(plan);
      await world.calm();
      const resumed = world.resume(plan);
      if (effects === 'none') {
        expect(await world.end(resumed)).toMatchObject({ status: 'completed' });
        expect((await world.runs.tasks(world.run)).map(({ status, retryCount }) => [status, retryCount])).toEqual([
          ['done', 0],
        ]);
        continue;
      }
      expect(await world.end(resumed)).toEqual({ status: 'waiting' });
      expect(resumed.tree()?.children[0]?.status).toBe('blocked');
      expect(runs).toBe(1);
      const looked = world.resume(plan);
      looked.retry('t');
      expect(await world.end(looked)).toMatchObject({ status: 'completed' });
      expect((await world.runs.tasks(world.run)).map(({ status }) => status)).toEqual(['orphaned', 'done']);
    }
  });
});
