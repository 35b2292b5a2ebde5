import path from 'node:path';
import { openHome, thisMachine } from '@signalbox/app/host';
import { hasRunEnded } from '@signalbox/runs';
import { goal, median, paired, round3, timed, times } from '../figures.ts';
import { batch as batchFloor } from '../floors/floors.mjs';
import { type Place, planIn } from './place.ts';
import { writingPlan } from './plan-files.ts';
import { serve } from './serving.ts';

const PLANS = 1_000;
const AT_A_TIME = 50;
const STEPS = 5;
/** Transactions of the floor before and after each round, with 32 steps each. */
const FLOOR_CALLS = 50;
const FLOOR_STEPS = 32;

/** 1,000 plans of 5 steps, 50 at a time: through the host in this process, and through a server over REST. */
export async function benchFanOut(place: Place): Promise<void> {
  const floor = batchFloor(place.directory());
  const host = await hostStarts(place);
  const rest = await restStarts(place);
  const ways = { 'the host in process': host, 'a server over REST': rest };
  const found = Object.entries(ways).map(([name, { run }]) => ({
    name,
    run,
    own: [] as number[],
    floor: [] as number[],
  }));
  for (const { run } of found) await runAll(100, run);
  for (let round = 0; round < place.rounds; round++) {
    for (const way of found) {
      const before = await timed(() => times(FLOOR_CALLS, floor));
      way.own.push((await timed(() => runAll(PLANS, way.run))) / (PLANS * STEPS));
      const after = await timed(() => times(FLOOR_CALLS, floor));
      way.floor.push((before + after) / (2 * FLOOR_CALLS * FLOOR_STEPS));
    }
  }
  await host.close();
  await rest.close();
  for (const { name, own, floor: floors } of found) {
    const ratios = paired(floors, own, (floorMs, ms) => floorMs / ms);
    goal(`${PLANS} plans of ${STEPS} steps, ${AT_A_TIME} at a time: ${name}`, ratios, 'at least', 0.2, {
      stepsPerSec: Math.round(1_000 / median(own)),
      stepMs: round3(median(own)),
      floor: `batch x ${FLOOR_STEPS}`,
      floorPerSec: Math.round(1_000 / median(floors)),
    });
  }
}

/** How plans are started, each until its run has ended. */
interface Starts {
  readonly run: () => Promise<unknown>;
  close(): Promise<void>;
}

async function hostStarts(place: Place): Promise<Starts> {
  const { home, plan } = planIn(place, writingPlan(STEPS));
  const opened = await openHome({ dataDirectory: path.join(home, 'data'), machine: thisMachine(), env: {} });
  if (!opened.ok) throw new Error(opened.error.message);
  const { host, close } = opened.value;
  return {
    async run() {
      const started = await host.start({ file: plan, anyFile: true, input: {} });
      if (!started.ok) throw new Error(started.error.message);
      await host.finished(started.value);
    },
    close,
  };
}

async function restStarts(place: Place): Promise<Starts> {
  const { home, plan } = planIn(place, writingPlan(STEPS));
  const serving = await serve(place.program, home);
  return { run: () => serving.startUntil(plan, hasRunEnded), close: serving.close };
}

async function runAll(plans: number, run: () => Promise<unknown>): Promise<void> {
  let left = plans;
  const worker = async () => {
    while (left-- > 0) await run();
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
}
