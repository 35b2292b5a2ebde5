/**
 * Plans on the real engine and the real store next to their floors, interleaved, one JSON line a figure. The built program is
 * measured by `bench/program.ts`.
 *
 *   node bench/plan.ts [part ...] [--dir DIR] [--rounds N]       parts: steps frame bytes
 *
 * steps    plans of 1,000 and of 10,000 bare tasks, one after the other, next to the floor `step`
 * frame    a tree of 10,000 nodes: the frame after one key changed next to the first frame
 * bytes    what a step takes on disk, and a run in memory, at 10,000 steps next to 1,000
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { definePlan, Phase, Task } from '@signalbox/plan';
import type { Commit } from '@signalbox/runs';
import * as z from 'zod';
import { goal, median, round3 } from './figures.ts';
import { createEngine } from './plan/engine.ts';
import { benchEngineSteps } from './plan/engine-steps.ts';
import { bareTasks, el, growingState, iterations, stepOf, writingTasks } from './plan/plans.ts';

const parts = { steps: benchSteps, frame: benchFrame, bytes: benchBytes };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { dir: { type: 'string' }, rounds: { type: 'string', default: '5' } },
});
const rounds = Number(values.rounds);
const root = mkdtempSync(path.join(values.dir ?? tmpdir(), 'signalbox-bench-'));
const engine = createEngine(root);

try {
  for (const [name, bench] of Object.entries(parts)) {
    if (positionals.length === 0 || positionals.includes(name)) await bench();
  }
} finally {
  rmSync(root, { recursive: true, force: true });
}

function benchSteps(): Promise<void> {
  return benchEngineSteps(engine, 'bare', bareTasks, rounds, 0.5);
}

/** One of 100 components reads the key; tasks of a first phase change it, those of the others wait. */
async function benchFrame(): Promise<void> {
  const changes = 30;
  const [full, changed]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    let since = performance.now();
    const Group = ({ number, ctx }: { number: number; ctx: { state: { get(key: 'n'): number } } }) =>
      el(
        Phase,
        { name: `group ${number}` },
        Array.from({ length: 98 }, (_, index) =>
          el(Task, { input: number === 0 && index === 0 ? ctx.state.get('n') : 0, run: () => 0 }, undefined, index),
        ),
      );
    const plan = definePlan({
      name: 'frame',
      state: z.object({ n: z.number().default(0) }),
      render: ctx => [
        el(
          Phase,
          { name: 'changes' },
          Array.from({ length: changes }, (_, index) =>
            stepOf(
              {
                run() {
                  since = performance.now();
                  return index;
                },
                onFinished: () => ctx.state.set('n', index + 1),
              },
              index,
            ),
          ),
          'changes',
        ),
        ...Array.from({ length: 100 }, (_, number) => el(Group, { number, ctx }, undefined, `group ${number}`)),
      ],
    });
    const store = engine.opened(engine.directory());
    const commit: Commit = {
      commit(writes, guard) {
        if (writes.frame !== undefined) (writes.frame.index === 0 ? full : changed).push(performance.now() - since);
        if (writes.frame?.index === changes) driven.pause();
        return store.commit(writes, guard);
      },
    };
    const driven = engine.start(store, plan, commit);
    const end = await driven.finished;
    if (end.status !== 'paused') throw new Error(`the run was not paused: ${JSON.stringify(end)}`);
    store.close();
  }
  const fullMs = median(full);
  const ratios = changed.map(ms => ms / fullMs);
  goal('frame after one key of 10,000 nodes changed', ratios, 'at most', 0.1, {
    ms: round3(median(changed)),
    fullMs: round3(fullMs),
  });
}

async function benchBytes(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const shapes = { siblings: writingTasks, iterations, 'growing state': growingState };
  for (const [shape, plan] of Object.entries(shapes)) {
    const measured = [];
    for (const steps of [1_000, 10_000]) {
      const home = engine.directory();
      engine.opened(home).close();
      const empty = bytesOf(home);
      const store = engine.opened(home);
      collect();
      const heapBefore = process.memoryUsage().heapUsed;
      let heap = 0;
      const commit: Commit = {
        commit(writes, guard) {
          if (writes.run?.kind === 'change' && writes.run.change.status === 'completed') {
            collect();
            heap = process.memoryUsage().heapUsed - heapBefore;
          }
          return store.commit(writes, guard);
        },
      };
      await engine.start(store, plan(steps), commit).finished;
      store.close();
      measured.push({ perStep: Math.round((bytesOf(home) - empty) / steps), heapMb: round3(heap / 2 ** 20) });
    }
    const [few, many] = measured;
    if (few === undefined || many === undefined) throw new Error('nothing was measured');
    goal(`bytes per step, 10,000 next to 1,000: ${shape}`, [many.perStep / few.perStep], 'at most', 1.2, {
      bytesPerStep: many.perStep,
      heapMbAt1000: few.heapMb,
      heapMbAt10000: many.heapMb,
    });
  }
}

function bytesOf(home: string): number {
  return statSync(path.join(home, 'db.sqlite')).size;
}
