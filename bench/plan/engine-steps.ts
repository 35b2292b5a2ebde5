import { performance } from 'node:perf_hooks';
import type { AnyPlan } from '@signalbox/plan';
import type { Commit } from '@signalbox/runs';
import { goal, mean, median, paired, round3 } from '../figures.ts';
import { step as stepFloor } from '../floors/floors.mjs';
import { completed, type Engine } from './engine.ts';

interface Steps {
  readonly own: number[];
  readonly floor: number[];
}

/** Steps of the engine next to the floor `step`; a round is a run, and its ratio is that of the medians of its steps. */
export async function benchEngineSteps(
  engine: Engine,
  name: string,
  plan: (steps: number) => AnyPlan,
  rounds: number,
  reach: number,
): Promise<void> {
  await timedSteps(engine, plan(1_000));
  const [few, many]: [Steps[], Steps[]] = [[], []];
  for (let round = 0; round < rounds; round++) few.push(await timedSteps(engine, plan(1_000)));
  for (let round = 0; round < Math.ceil(rounds / 2); round++) many.push(await timedSteps(engine, plan(10_000)));
  const ratios = (found: readonly Steps[]) => found.map(({ own, floor }) => median(floor) / median(own));
  for (const [steps, found] of [
    ['1,000', few],
    ['10,000', many],
  ] as const) {
    const [own, floor] = [found.flatMap(one => one.own), found.flatMap(one => one.floor)];
    goal(`engine: ${steps} steps, ${name}`, ratios(found), 'at least', reach, {
      p50ms: round3(median(own)),
      meanMs: round3(mean(own)),
      floor: 'step',
      floorP50ms: round3(median(floor)),
      floorMeanMs: round3(mean(floor)),
    });
  }
  const scaled = paired(ratios(many), ratios(few), (long, short) => long / short);
  goal(`engine: 10,000 steps next to 1,000, ${name}`, scaled, 'at least', 0.95);
}

/**
 * The time of each step: the engine's since the last commit, and the commit's own. A step of the floor goes before each commit, so
 * that both meet the same machine; its time is not the plan's.
 */
async function timedSteps(engine: Engine, plan: AnyPlan): Promise<Steps> {
  const store = engine.opened(engine.directory());
  const floor = stepFloor(engine.directory());
  const steps: Steps = { own: [], floor: [] };
  let since: number | undefined;
  const commit: Commit = {
    async commit(writes, guard) {
      const called = performance.now();
      floor();
      const begun = performance.now();
      const committed = await store.commit(writes, guard);
      const ended = performance.now();
      steps.floor.push(begun - called);
      // The first frame is not a step: it is there before any of them.
      if (since !== undefined) steps.own.push(called - since + (ended - begun));
      since = ended;
      return committed;
    },
  };
  await completed(engine.start(store, plan, commit));
  store.close();
  return steps;
}
