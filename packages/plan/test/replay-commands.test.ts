import type { Json } from '@signalbox/model';
import type { Commit } from '@signalbox/runs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import * as z from 'zod';
import type { PlanRun } from '../src/frames/engine-options.ts';
import type { TaskExecutor } from '../src/frames/task-executor.ts';
import { Fragment } from '../src/jsx/element.ts';
import { Effect, Human, If, Phase, SubPlan, Task, While } from '../src/nodes/components.ts';
import { definePlan } from '../src/plan-definition.ts';
import { replayRun } from '../src/replay/replay-run.ts';
import { el } from './elements.ts';
import { type Harness, harness } from './harness.ts';

const soak = process.env.SIGNALBOX_SOAK === '1';
const nodes = ['a', 'ask', 'sub', 'toggled', 'loop', 'flaky', 'inner', 'child-ask'] as const;

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

let effectRuns = 0;
const plan = definePlan({
  name: 'commanded',
  state: z.object({
    on: z.boolean().default(true),
    n: z.number().default(0),
    label: z.string().default(''),
    failures: z.number().default(0),
    got: z.array(z.unknown()).default([]),
  }),
  signals: {
    poke: {
      schema: z.unknown(),
      handle: (_: unknown, ctx) => ctx.state.update('got', (got: readonly unknown[]) => [...got, ctx.now()]),
    },
  },
  render: ctx =>
    el(
      Fragment,
      {},
      el(Effect, {
        id: 'label',
        deps: [ctx.state.get('n')],
        // The effect writes another value each time: a replay reads it from the record.
        run: () => ctx.state.set('label', `${effectRuns++}`),
        cleanup: () => undefined,
      }),
      el(
        While,
        { id: 'loop', condition: () => ctx.state.get('n') < 3, maxIterations: 5 },
        el(Task, {
          id: 'a',
          run: () => new Promise(resolve => setImmediate(() => resolve(Math.random()))),
          onFinished: () => {
            ctx.state.update('n', n => n + 1);
            ctx.state.update('on', on => !on);
          },
        }),
      ),
      el(Task, {
        id: 'flaky',
        label: ctx.state.get('label'),
        retries: 1,
        run: () => {
          if (Math.random() < 0.5) throw Object.assign(new Error('busy'), { status: 503 });
          return ctx.random();
        },
        onError: () => ctx.state.update('failures', count => count + 1),
      }),
      el(Human, { id: 'ask', prompt: '?', onFinished: (said: Json) => ctx.state.update('got', got => [...got, said]) }),
      el(SubPlan, { id: 'sub', plan: child }),
      el(If, { condition: ctx.state.get('on') }, el(SubPlan, { id: 'toggled', plan: child })),
    ),
});

type Act =
  | { readonly kind: 'pause' | 'stop' | 'terminate' | 'resume' | 'calm' | 'time' | 'answer' | 'poke' }
  | { readonly kind: 'retry' | 'cancel' | 'wake' | 'reset'; readonly node: string };

const acts: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ kind: fc.constantFrom('pause', 'stop', 'terminate', 'answer', 'poke' as const) }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('resume', 'calm', 'time' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('retry', 'cancel', 'wake', 'reset' as const),
      node: fc.constantFrom(...nodes),
    }),
  },
);

/** Once its process is dead, nothing that it commits counts. */
function mortal(world: Harness, process: { isDead: boolean }): Commit {
  return {
    commit: (writes, guard) =>
      world.runs.commit(writes, (process.isDead ? { ...guard, version: 1_000_000 } : guard) as never),
  };
}

it('[P110] whatever commands a run got, whichever processes died: its frames and those of its children are reproduced', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(acts, { maxLength: 14 }), async script => {
      const world = harness();
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
          commit: mortal(world, life),
          stopGraceMs: 50,
          claim: true,
          onRun: (_: unknown, run: PlanRun) => void live.add(run),
        };
        const isNew = (await world.runs.run(world.run)) === undefined;
        const run = isNew ? world.start(plan, options) : world.resume(plan, options);
        live.add(run);
        return run;
      };
      let run = await begin();
      for (const act of script) {
        if (act.kind === 'calm') await world.calm();
        else if (act.kind === 'time') world.timers.advance(world.timers.next ?? 0);
        else if (act.kind === 'answer') answers += 1;
        else if (act.kind === 'resume') run = await begin();
        else if (act.kind === 'poke') {
          const event = {
            v: 1,
            id: world.ports.ids.mint(),
            ts: world.now(),
            type: 'signal.received',
            name: 'poke',
            payload: null,
            by: 'x',
          };
          await world.runs.commit({ at: world.now(), events: [event as never] }, { run: world.run, version: 'any' });
          void run.input();
        } else {
          for (const one of live) {
            if (act.kind === 'stop' || act.kind === 'terminate') void one[act.kind]('asked');
            else if (act.kind === 'pause') void one.pause();
            else if ('node' in act) void one[act.kind](act.node);
          }
        }
      }
      answers += 1;
      for (let lives = 0; lives < 12; lives++) {
        run = await begin();
        for (const node of lives === 0 ? [] : ['a', 'ask', 'sub', 'toggled', 'flaky']) void run.retry(node);
        if ((await world.end(run)).status === 'completed') break;
      }
      await world.calm();
      const effects = effectRuns;
      const report = await replayRun({ plan, run: world.run, reader: world.runs });
      expect(report.difference).toBeUndefined();
      expect(report.verified).toBe((await world.runs.run(world.run))?.frames);
      for (const { run: id, plan: of } of report.children) {
        const below = await replayRun({ plan: of, run: id, reader: world.runs });
        expect(below.difference).toBeUndefined();
        expect(below.verified).toBe(below.frames);
      }
      expect(effectRuns).toBe(effects);
    }),
    soak ? { numRuns: 1000 } : { numRuns: 15, seed: -638710521 },
  );
});
