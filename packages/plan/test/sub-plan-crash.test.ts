import type { Json, RunId } from '@signalbox/model';
import type { Commit } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { TaskExecutor } from '../src/frames/task-executor.ts';
import { Fragment } from '../src/jsx/element.ts';
import { Human, If, Phase, SubPlan, Task, While } from '../src/nodes/components.ts';
import { definePlan } from '../src/plan-definition.ts';
import { el } from './elements.ts';
import { type Harness, harness } from './harness.ts';

const dead = {
  ok: false,
  error: { code: 'store/outcome-unknown', message: 'dead', retry: { kind: 'not_retryable' }, suggestion: 'resume' },
} as const;

/** A plan of plans: a child in a loop, one that asks a person, and one whose node leaves while it waits. */
function family() {
  const inner = definePlan({
    name: 'inner',
    input: z.object({ n: z.number() }),
    state: z.object({ squares: z.number().optional() }),
    render: ctx =>
      el(Task, {
        id: 'square',
        run: () => ctx.input.n ** 2,
        onFinished: (n: number) => ctx.state.set('squares', n),
      }),
  });
  const middle = definePlan({
    name: 'middle',
    input: z.object({ n: z.number() }),
    state: z.object({ sum: z.number().default(0), said: z.string().optional() }),
    render: ctx =>
      el(
        Fragment,
        {},
        el(
          Phase,
          { name: 'inner' },
          el(SubPlan, {
            id: 'inner',
            plan: inner,
            input: { n: ctx.input.n },
            onFinished: (output: Json) => {
              const { squares } = output as { readonly squares: number };
              ctx.state.update('sum', sum => sum + squares);
            },
          }),
        ),
        el(
          Phase,
          { name: 'ask' },
          el(Human, {
            id: 'ask',
            prompt: `Well ${ctx.input.n}?`,
            onFinished: (text: string) => ctx.state.set('said', `${text}${ctx.input.n}`),
          }),
        ),
      ),
  });
  return definePlan({
    name: 'outer',
    state: z.object({ got: z.array(z.unknown()).default([]), stay: z.boolean().default(true) }),
    render: ctx =>
      el(
        Fragment,
        {},
        el(If, { condition: ctx.state.get('stay') }, el(SubPlan, { id: 'left', plan: middle, input: { n: 100 } })),
        el(While, { condition: () => ctx.state.get('got').length < 2 }, ({ iteration }: { iteration: number }) =>
          el(SubPlan, {
            id: 'middle',
            plan: middle,
            input: { n: iteration + 2 },
            onFinished: (output: Json) => {
              ctx.state.update('got', got => [...got, output]);
              ctx.state.set('stay', false);
            },
          }),
        ),
      ),
  });
}

/** Runs the plan to its end. The process dies once at its `at`-th commit, or again at every `at`-th. */
async function play(at: number, when: 'before' | 'after' | 'never', often: 'once' | 'always' = 'once') {
  const world = harness();
  const plan = family();
  const asked = new Set<RunId>();
  const begun = new Map<string, number>();
  const executor: TaskExecutor = {
    async execute({ run, node }) {
      const isNeverAnswered = JSON.stringify(node.data).includes('100');
      if (asked.has(run) && !isNeverAnswered) return { kind: 'done', output: 'yes' };
      asked.add(run);
      return { kind: 'blocked', reason: 'approval_required:human' };
    },
  };
  let commits = 0;
  let died = false;
  for (let lives = 1; lives < 300; lives++) {
    let isDead = false;
    if (often === 'always') {
      commits = 0;
      died = false;
    }
    const commit: Commit = {
      async commit(writes, guard) {
        if (isDead) return dead;
        commits += 1;
        const isLast = when !== 'never' && !died && commits === at;
        if (isLast && when === 'before') {
          isDead = true;
          died = true;
          return dead;
        }
        const committed = await world.runs.commit(writes, guard);
        if (!committed.ok) throw new Error(committed.error.message);
        for (const task of writes.tasks ?? []) {
          const name = `${guard.run} ${task.node} ${task.iteration}`;
          if (task.status === 'done') begun.set(name, (begun.get(name) ?? 0) + 1);
        }
        if (isLast) {
          isDead = true;
          died = true;
        }
        return isLast ? dead : committed;
      },
    };
    const options = { executor, commit };
    const known = await world.runs.run(world.run);
    const run = known === undefined ? world.start(plan, options) : world.resume(plan, options);
    const end = await world.end(run);
    await world.calm();
    if (end.status === 'lost' || end.status === 'waiting') continue;
    // Children are begun in any order; what each of them came to is the same.
    const { items } = await world.runs.runs({ limit: 100 });
    const records = items.toSorted((a, b) => (a.id < b.id ? 1 : -1));
    return {
      end,
      runs: records.map(({ name, status, origin, output }) => [name, status, origin ?? null, output ?? null]),
      states: await stateLog(world, records),
      doneTwice: [...begun].filter(([, times]) => times > 1),
    };
  }
  throw new Error('the run never ends');
}

async function stateLog(world: Harness, records: readonly { readonly id: RunId; readonly status: string }[]) {
  return Promise.all(
    records
      .filter(({ status }) => status === 'completed')
      .map(async ({ id }) =>
        (await world.runs.transitions(id, { limit: 1000 })).items.map(({ key, new: now, trigger }) => [
          key,
          now ?? null,
          trigger,
        ]),
      ),
  );
}

describe('a run with child runs whose process dies', () => {
  it('[P67] ends as if nothing had happened: no child starts twice, none is left behind', async () => {
    const whole = await play(0, 'never');
    expect(whole.end).toEqual({
      status: 'completed',
      output: {
        got: [
          { sum: 4, said: 'yes2' },
          { sum: 9, said: 'yes3' },
        ],
        stay: false,
      },
    });
    expect(whole.runs.map(([name, status]) => `${name} ${status}`).sort()).toEqual([
      'inner completed',
      'inner completed',
      'inner completed',
      'middle completed',
      'middle completed',
      'middle stopped',
      'outer completed',
    ]);
    for (const when of ['before', 'after'] as const) {
      for (let at = 1; at < 40; at++) {
        const broken = await play(at, when);
        expect({ at, when, ...broken }).toEqual({ at, when, ...whole });
      }
    }
  });

  it('[P67] even when every process dies after a few commits', async () => {
    const whole = await play(0, 'never');
    for (const when of ['before', 'after'] as const) {
      for (let at = 8; at < 20; at++) {
        const { end, doneTwice } = await play(at, when, 'always');
        expect({ at, when, end, doneTwice }).toEqual({ at, when, end: whole.end, doneTwice: [] });
      }
    }
  });
});
