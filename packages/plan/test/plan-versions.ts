import type { RunId } from '@signalbox/model';
import { sha256 } from '../src/artifacts/sha256.ts';
import type { PlanRunOptions } from '../src/frames/engine-options.ts';
import type { AnyPlan } from '../src/plan-definition.ts';
import { replayRun } from '../src/replay/replay-run.ts';
import type { Harness } from './harness.ts';

/** The files of a version of the plan. */
export const version = (text: string): Pick<PlanRunOptions, 'source'> => ({
  source: {
    root: '/plans',
    entry: 'release.tsx',
    files: [{ path: 'release.tsx', digest: sha256(Buffer.from(text)) }],
    packages: [],
    engine: 'test',
  },
});

/** Whether a replay finds every frame, each by the version of the plan that made it. */
export async function replayed({ runs }: Harness, run: RunId, plans: readonly AnyPlan[]) {
  const plan = (version: number) => plans[version - 1] as AnyPlan;
  const { verified, frames, difference } = await replayRun({ plan, run, reader: runs });
  return { difference, isVerified: verified === frames };
}
