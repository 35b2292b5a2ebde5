import type { Json } from '@signalbox/model';
import type { Commit } from '@signalbox/runs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import * as z from 'zod';
import type { PlanRun } from '../src/frames/engine-options.ts';
import type { TaskExecutor } from '../src/frames/task-executor.ts';
import { Fragment } from '../src/jsx/element.ts';
import { Human, If, Phase, SubPlan, Task, While } from '../src/nodes/components.ts';
import { definePlan } from '../src/plan-definition.ts';
import { el } from './elements.ts';
import { type Harness, harness } from './harness.ts';

const soak = process.env.SIGNALBOX_SOAK === '1';
const nodes = ['a', 'ask', 'sub', 'toggled', 'loop', 'nowhere', 'inner', 'child-ask'] as const;

const child = definePlan({
  name: 'child',
  state: z.object({ n: z.number().default(0) }),
  render: ctx =>
    el(
      Fragment,
      {},
      el(
        Phase,
        { name: '1' },
        el(Task, { id: 'inner', run: () => 1, onFinished: (n: number) => ctx.state.set('n', n) }),
      ),
      el(Phase, { name: '2' }, el(Human, { id: 'child-ask', prompt: '?' })),
    ),
});

const plan = definePlan({
  name: 'commanded',
  state: z.object({ on: z.boolean().default(true), n: z.number().default(0), got: z.array(z.unknown()).default([]) }),
  render: ctx =>
    el(
      Fragment,
      {},
      el(
        While,
        { id: 'loop', condition: () => ctx.state.get('n') < 3, maxIterations: 5 },
        el(Task, {
          id: 'a',
          run: () => new Promise(resolve => setImmediate(() => resolve(1))),
          onFinished: () => {
            ctx.state.update('n', n => n + 1);
            ctx.state.update('on', on => !on);
          },
        }),
      ),
      el(Human, { id: 'ask', prompt: '?', onFinished: (said: Json) => ctx.state.update('got', got => [...got, said]) }),
      el(SubPlan, { id: 'sub', plan: child }),
      el(If, { condition: ctx.state.get('on') }, el(SubPlan, { id: 'toggled', plan: child })),
    ),
});

type Act =
  | { readonly kind: 'pause' | 'stop' | 'terminate' | 'resume' | 'calm' | 'time' | 'answer' | 'input' }
  | { readonly kind: 'retry' | 'cancel' | 'wake' | 'reset'; readonly node: string };

const acts: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ kind: fc.constantFrom('pause', 'stop', 'terminate', 'answer', 'input' as const) }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('resume', 'calm', 'time' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('retry', 'cancel', 'wake', 'reset' as const),
      node: fc.constantFrom(...nodes),
    }),
  },
);

/** Every commit must be one that the store takes, until its process dies; afterwards none counts. */
function watched(world: Harness, faults: string[], process: { isDead: boolean }): Commit {
  return {
    async commit(writes, guard) {
      const committed = await (process.isDead
        ? world.runs.commit(writes, { ...guard, version: 1_000_000 } as never)
        : world.runs.commit(writes, guard));
      if (!committed.ok && !process.isDead) faults.push(`${committed.error.code}: ${committed.error.message}`);
      return committed;
    },
  };
}

it('[P67, P74] whatever commands a run and its children get, in any order, it can be resumed and ends', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(acts, { maxLength: 14 }), async script => {
      const world = harness();
      const faults: string[] = [];
      let answers = 0;
      const executor: TaskExecutor = {
        execute: async () =>
          answers > 0 ? { kind: 'done', output: answers } : { kind: 'blocked', reason: 'approval_required:human' },
      };
      let life = { isDead: false };
      const live = new Set<PlanRun>();
      const begin = async () => {
        life.isDead = true;
        life = { isDead: false };
        live.clear();
        const options = {
          executor,
          commit: watched(world, faults, life),
          stopGraceMs: 50,
          claim: true,
          onRun: (_: unknown, run: PlanRun) => void live.add(run),
        };
        const isNew = (await world.runs.run(world.run)) === undefined;
        const run = isNew ? world.start(plan, options) : world.resume(plan, options);
        live.add(run);
        run.finished.catch(error => faults.push(String(error)));
        return run;
      };
      let run = await begin();
      for (const act of script) {
        if (act.kind === 'calm') await world.calm();
        else if (act.kind === 'time') world.timers.advance(world.timers.next ?? 0);
        else if (act.kind === 'answer') answers += 1;
        else if (act.kind === 'resume') run = await begin();
        else {
          for (const one of live) {
            if (act.kind === 'stop' || act.kind === 'terminate') void one[act.kind]('asked');
            else if (act.kind === 'pause' || act.kind === 'input') void one[act.kind]();
            else if ('node' in act) void one[act.kind](act.node);
          }
        }
      }
      answers += 1;
      // Canceled and failed work is retried; in the end nothing is left to do.
      for (let lives = 0; ; lives++) {
        if (lives > 12) throw new Error('the run never completes');
        run = await begin();
        for (const node of lives === 0 ? [] : ['a', 'ask', 'sub', 'toggled']) void run.retry(node);
        const end = await world.end(run);
        if (end.status === 'completed') break;
      }
      await world.calm();
      expect(faults).toEqual([]);
      const left = (await world.runs.children(world.run)).filter(({ status }) =>
        ['queued', 'running', 'waiting', 'paused'].includes(status),
      );
      expect(left.map(({ id, status, origin }) => [id, status, origin])).toEqual([]);
      const tasks = await world.runs.tasks(world.run, { status: ['running', 'canceling', 'pending'] });
      expect(tasks.map(({ node, status }) => [node, status])).toEqual([]);
    }),
    { numRuns: soak ? 1500 : 60 },
  );
});
