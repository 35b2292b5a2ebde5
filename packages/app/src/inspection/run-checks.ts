import {
  type Digest,
  defined,
  type ErrorEnvelope,
  err,
  failure,
  type Json,
  ok,
  type ReplayedRow,
  type ReplayReport,
  type Result,
  type RunCheck,
  type RunId,
  utf8Length,
} from '@signalbox/model';
import type { DifferentRow } from '@signalbox/plan';
import type { Machine } from '../machine.ts';
import type { RunReplay } from '../replay/replay-job.ts';
import { verifyRunReplay } from '../replay/verify-replay.ts';
import { inOwnThread } from '../threads/own-thread.ts';

export interface CheckOptions {
  readonly dataDirectory: string;
  readonly machine: Pick<Machine, 'timers'>;
  readonly signal?: AbortSignal | undefined;
}

/** A check reads files and hashes without a pause, so silence means nothing for this long. */
const SILENCE_MS = 30 * 60_000;

/** Checks a run like `verifyRun`, without blocking this process. */
export async function checkRun(
  { dataDirectory, machine, signal }: CheckOptions,
  run: RunId,
  expectHead?: Digest | undefined,
): Promise<Result<RunCheck, ErrorEnvelope>> {
  const options = { timers: machine.timers, aloneSilenceMs: SILENCE_MS, signal };
  const told = await inOwnThread(options, threads => threads.verify({ dataDirectory, run, expectHead }));
  if ('status' in told) return err(notChecked(run, told.reason));
  if (!told.ok) return told;
  const { journal, ...report } = told.value;
  if (journal === undefined) return ok(report);
  const { pins: _, sessionId: __, defect, ...files } = journal;
  return ok({ ...report, journal: { ...files, ...defined({ defect }) } });
}

/** Replays a run's frames in a separate thread; the report is small enough to send. */
export async function replayedRun(
  { dataDirectory, machine, signal }: CheckOptions,
  run: RunId,
  plan?: string | undefined,
): Promise<Result<ReplayReport, ErrorEnvelope>> {
  const verdict = await verifyRunReplay(dataDirectory, run, { machine, plan, isPlace: true, signal });
  return verdict.ok ? ok({ ...verdict.value, runs: verdict.value.runs.map(replayView) }) : verdict;
}

const FIRST_UNVERIFIED = 100;

function replayView({ unverified, difference, ...replay }: RunReplay): ReplayReport['runs'][number] {
  return {
    ...replay,
    unverified: { count: unverified.length, first: unverified.slice(0, FIRST_UNVERIFIED) },
    ...(difference !== undefined && { difference: { ...difference, rows: difference.rows.map(rowView) } }),
  };
}

const MAX_VALUE_BYTES = 16 * 1024;

function rowView({ recorded, replayed, ...row }: DifferentRow): ReplayedRow {
  const before = bounded(recorded);
  const now = bounded(replayed);
  const leftOut = defined({ recorded: before.bytes, replayed: now.bytes });
  return {
    ...row,
    ...defined({ recorded: before.value, replayed: now.value }),
    ...(Object.keys(leftOut).length > 0 && { leftOut }),
  };
}

function bounded(value: Json | undefined): { readonly value?: Json; readonly bytes?: number } {
  if (value === undefined) return {};
  const bytes = utf8Length(JSON.stringify(value));
  return bytes > MAX_VALUE_BYTES ? { bytes } : { value };
}

function notChecked(run: RunId, reason: string): ErrorEnvelope<'run/thread-lost'> {
  return failure('run/thread-lost', {
    message: `The check of run ${run} did not finish: its thread was lost, ${reason}.`,
    suggestion: `Try again, or run "signalbox verify ${run}".`,
    details: { run },
  });
}
