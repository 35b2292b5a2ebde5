import type { Json } from '@signalbox/model';
import type { Commit } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { TaskExecutor } from '../src/frames/task-executor.ts';
import { Fragment } from '../src/jsx/element.ts';
import { Each, Effect, Human, If, Parallel, Phase, Step, Task, While } from '../src/nodes/components.ts';
import { definePlan } from '../src/plan-definition.ts';
import { el } from './elements.ts';
import { type Harness, harness } from './harness.ts';

/** Everything that really happened, next to what was committed. */
interface Witness {
  /** Work and handlers whose commit is durable: `node iteration`. */
  readonly committed: Set<string>;
  /** Anything of the above that happened once more. */
  readonly repeated: string[];
}

function storyPlan(witness: Witness) {
  const once = (what: string) => {
    if (witness.committed.has(what)) witness.repeated.push(what);
  };
  const work = (id: string, more: object = {}) =>
    el(Task, {
      id,
      key: id,
      run: ({ iteration }: { iteration: number }) => {
        once(`${id} ${iteration}`);
        return `${id}${iteration}`;
      },
      ...more,
    });
  return definePlan({
    name: 'story',
    state: z.object({
      n: z.number().default(0),
      log: z.array(z.string()).default([]),
      label: z.string().optional(),
      go: z.boolean().optional(),
    }),
    render: ctx => {
      const note = (id: string) => (text: string) => {
        once(`handler ${id} ${text}`);
        ctx.state.update('log', log => [...log, text], { trigger: `${id}.done` });
      };
      return el(
        Fragment,
        {},
        el(Effect, {
          id: 'label',
          deps: [ctx.state.get('n')],
          run: () => ctx.state.update('label', (text = '') => `${text}${ctx.state.get('n')}`),
        }),
        el(
          Phase,
          { name: 'prepare' },
          el(Step, {}, work('a', { onFinished: note('a') })),
          el(Step, {}, work('b', { onFinished: note('b') })),
        ),
        el(
          Phase,
          { name: 'loop' },
          el(
            While,
            { condition: () => ctx.state.get('n') < 3, maxIterations: 9 },
            el(Step, {}, work('c', { onFinished: note('c') })),
            el(
              Step,
              {},
              work('d', {
                onFinished: (text: string) => {
                  note('d')(text);
                  ctx.state.update('n', n => n + 1);
                },
              }),
            ),
          ),
        ),
        el(
          Phase,
          { name: 'ask' },
          el(Human, { id: 'ask', prompt: 'Go?', onFinished: (yes: boolean) => ctx.state.set('go', yes) }),
        ),
        el(
          Phase,
          { name: 'finish' },
          el(
            If,
            { condition: ctx.state.get('go') === true, else: work('no') },
            el(
              Parallel,
              { limit: 1 },
              el(Each, { items: ['x', 'y', 'z'] }, (id: string) => work(id, { onFinished: note(id) })),
            ),
          ),
        ),
      );
    },
  });
}

/** Runs the plan to its end. Every engine dies at its `dies`-th commit, before or after it is durable; 0 is never. */
async function play(dies: number, when: 'before' | 'after' | 'never') {
  const world = harness();
  const witness: Witness = { committed: new Set(), repeated: [] };
  const plan = storyPlan(witness);
  let asked = 0;
  const executor: TaskExecutor = {
    execute: async () =>
      asked++ === 0 ? { kind: 'blocked', reason: 'approval_required:human' } : { kind: 'done', output: true },
  };
  let lives = 0;
  for (;;) {
    lives += 1;
    if (lives > 200) throw new Error('the run never ends');
    const options = { executor, commit: dyingCommit(world, witness, when === 'never' ? 0 : dies, when) };
    const run =
      (await world.runs.run(world.run)) === undefined ? world.start(plan, options) : world.resume(plan, options);
    if (lives > 1) run.wake('ask');
    const end = await world.end(run);
    if (end.status !== 'lost' && end.status !== 'waiting')
      return { end, lives, repeated: witness.repeated, log: await transitions(world), digest: await lastDigest(world) };
  }
}

function dyingCommit(world: Harness, witness: Witness, dies: number, when: 'before' | 'after' | 'never'): Commit {
  let commits = 0;
  return {
    async commit(writes, guard) {
      commits += 1;
      const isLast = commits === dies;
      const dead = {
        ok: false,
        error: {
          code: 'store/outcome-unknown',
          message: 'dead',
          retry: { kind: 'not_retryable' },
          suggestion: 'resume',
        },
      } as const;
      if (isLast && when === 'before') return dead;
      const committed = await world.runs.commit(writes, guard);
      if (!committed.ok) throw new Error(committed.error.message);
      for (const task of writes.tasks ?? []) {
        if (task.status !== 'done' || task.node === 'ask') continue;
        witness.committed.add(`${task.node} ${String(task.result).slice(1)}`);
        witness.committed.add(`handler ${task.node} ${String(task.result)}`);
      }
      return isLast ? dead : committed;
    },
  };
}

/** The plan, statuses and state of the last frame. */
async function lastDigest(world: Harness): Promise<string | undefined> {
  const frames = (await world.runs.run(world.run))?.frames ?? 0;
  return (await world.runs.frame(world.run, frames - 1))?.digest;
}

async function transitions(world: Harness): Promise<readonly Json[]> {
  const { items } = await world.runs.transitions(world.run, { limit: 1000 });
  return items.map(({ key, old, new: now, trigger, node, handler }) => [
    key,
    old ?? null,
    now ?? null,
    trigger ?? null,
    node ?? null,
    handler ?? null,
  ]);
}

describe('a run whose process dies', () => {
  it('[P52] ends as if nothing had happened, wherever it dies', async () => {
    const whole = await play(0, 'never');
    expect(whole.end).toEqual({
      status: 'completed',
      output: {
        n: 3,
        go: true,
        label: '0123',
        log: ['a0', 'b0', 'c0', 'd0', 'c1', 'd1', 'c2', 'd2', 'x0', 'y0', 'z0'],
      },
    });
    expect(whole.repeated).toEqual([]);
    for (const when of ['before', 'after'] as const) {
      // A process that never gets past its first or second commit would never come to an end.
      for (let dies = when === 'before' ? 4 : 3; dies < 20; dies++) {
        const broken = await play(dies, when);
        expect({ dies, when, end: broken.end, log: broken.log }).toEqual({
          dies,
          when,
          end: whole.end,
          log: whole.log,
        });
        expect({ dies, when, repeated: broken.repeated }).toEqual({ dies, when, repeated: [] });
        if (dies < 10) expect(broken.lives).toBeGreaterThan(1);
      }
    }
  });

  it('[P52] dying once, before or after any single commit, changes nothing', async () => {
    const whole = await play(0, 'never');
    for (const when of ['before', 'after'] as const) {
      for (let at = 1; at < 20; at++) {
        const broken = await playOnce(at, when);
        expect({ at, when, ...broken }).toEqual({
          at,
          when,
          end: whole.end,
          log: whole.log,
          digest: whole.digest,
          repeated: [],
        });
      }
    }
  });
});

async function playOnce(at: number, when: 'before' | 'after') {
  const world = harness();
  const witness: Witness = { committed: new Set(), repeated: [] };
  const plan = storyPlan(witness);
  let asked = 0;
  const executor: TaskExecutor = {
    execute: async () =>
      asked++ === 0 ? { kind: 'blocked', reason: 'approval_required:human' } : { kind: 'done', output: true },
  };
  const dying = dyingCommit(world, witness, at, when);
  for (let lives = 1; lives < 10; lives++) {
    const options = { executor, commit: dying };
    const run =
      (await world.runs.run(world.run)) === undefined ? world.start(plan, options) : world.resume(plan, options);
    if (lives > 1) run.wake('ask');
    const end = await world.end(run);
    if (end.status !== 'lost' && end.status !== 'waiting')
      return { end, log: await transitions(world), digest: await lastDigest(world), repeated: witness.repeated };
  }
  throw new Error('the run never ends');
}
