import type { ErrorEnvelope, Result, RunId, SecretFilter } from '@signalbox/model';
import { type AnyPlan, type PlanOfVersion, type ReplayReport, replayRun } from '@signalbox/plan';
import { openReader, type Reader } from '@signalbox/store';
import type { LoadedPlans } from '../threads/loaded-plans.ts';
import type { PlanSource } from '../threads/thread-api.ts';

/** A run to verify, and where its record is. */
export interface ReplayJob {
  readonly database: string;
  readonly run: RunId;
  /** The plan, in each version that the run used; the last stands for missing ones. */
  readonly versions: readonly PlanSource[];
}

/** The result of replaying one run. */
export interface RunReplay extends Omit<ReplayReport, 'children'> {
  readonly name: string;
}

/** Replays a run and its sub-plans. It runs where plan code is called. */
export async function doReplay(
  plans: LoadedPlans,
  { database, run, versions }: ReplayJob,
  secrets?: SecretFilter,
): Promise<Result<readonly RunReplay[], ErrorEnvelope>> {
  const loaded: AnyPlan[] = [];
  for (const source of versions) {
    const version = await plans.load(source);
    if (!version.ok) return version;
    loaded.push(version.value.plan);
  }
  const opened = openReader({ path: database });
  if (!opened.ok) return opened;
  const planOf: PlanOfVersion = version => (loaded[version - 1] ?? loaded.at(-1)) as AnyPlan;
  try {
    return { ok: true, value: await replayTree(opened.value, run, planOf, secrets) };
  } finally {
    opened.value.close();
  }
}

const FRAMES_A_BREATH = 16;

/** Reads complete synchronously, so a replaying thread must yield to show that it is alive. */
async function breathe(frame: number): Promise<void> {
  if (frame % FRAMES_A_BREATH === 0) await new Promise<void>(resolve => setImmediate(resolve));
}

async function replayTree(
  reader: Reader,
  run: RunId,
  plan: PlanOfVersion,
  secrets: SecretFilter | undefined,
): Promise<readonly RunReplay[]> {
  const { children, ...report } = await replayRun({ plan, run, reader, blobs: reader, onFrame: breathe, secrets });
  const below: RunReplay[] = [];
  for (const child of children) below.push(...(await replayTree(reader, child.run, child.plan, secrets)));
  return [{ name: plan(1).name, ...report }, ...below];
}
