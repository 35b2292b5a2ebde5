import type { ErrorEnvelope, Result, RunId } from '@signalbox/model';
import { type AnyPlan, type ReplayReport, replayRun } from '@signalbox/plan';
import { openReader, type Reader } from '@signalbox/store';
import type { LoadedPlans } from '../threads/loaded-plans.ts';
import type { PlanSource } from '../threads/thread-api.ts';

/** A run to be verified, where its record is. */
export interface ReplayJob {
  readonly database: string;
  readonly run: RunId;
  readonly source: PlanSource;
}

/** What came of the replay of one run. */
export interface RunReplay extends Omit<ReplayReport, 'children'> {
  readonly name: string;
}

/** Replays a run and the runs of its sub-plans. It runs where code of plans is called. */
export async function doReplay(
  plans: LoadedPlans,
  { database, run, source }: ReplayJob,
): Promise<Result<readonly RunReplay[], ErrorEnvelope>> {
  const loaded = await plans.load(source);
  if (!loaded.ok) return loaded;
  const opened = openReader({ path: database });
  if (!opened.ok) return opened;
  try {
    return { ok: true, value: await replayTree(opened.value, run, loaded.value.plan) };
  } finally {
    opened.value.close();
  }
}

const FRAMES_A_BREATH = 16;

/** Reads answer at once, so nothing else would have its turn: a thread that replays must still say that it lives. */
async function breathe(frame: number): Promise<void> {
  if (frame % FRAMES_A_BREATH === 0) await new Promise<void>(resolve => setImmediate(resolve));
}

async function replayTree(reader: Reader, run: RunId, plan: AnyPlan): Promise<readonly RunReplay[]> {
  const { children, ...report } = await replayRun({ plan, run, reader, blobs: reader, onFrame: breathe });
  const below: RunReplay[] = [];
  for (const child of children) below.push(...(await replayTree(reader, child.run, child.plan)));
  return [{ name: plan.name, ...report }, ...below];
}
