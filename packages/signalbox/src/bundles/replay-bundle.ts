/** Loaded by `verifyReplay` on first call, so that importing the plan API does not load it. */
import { thisMachine, verifyBundleReplay } from '@signalbox/app/host';
import { describeVerdict } from './replay-report.ts';
import type { ReplayBundle } from './verify-replay.ts';

export const replayBundle: ReplayBundle = async (file, plan, trust) => {
  const verdict = await verifyBundleReplay(file, { machine: thisMachine(), plan, trust });
  if (!verdict.ok) throw new Error(`${verdict.error.message} ${verdict.error.suggestion}`);
  const { ok, runs } = verdict.value;
  if (ok) return runs.map(({ run, name, frames }) => ({ run, name, frames }));
  const plainly = (text: string) => text;
  throw new Error(describeVerdict(verdict.value, { good: plainly, bad: plainly, doubtful: plainly }));
};
