import { EMPTY_HEAD, err, ok, type Result, type RunId, type Timestamp } from '@signalbox/model';
import type { RetentionWrite } from '../retention/retention-write.ts';
import { hasRunEnded, mayRunFollow } from './run-lifecycle.ts';
import type { NewRun, RunChange, RunRecord } from './run-record.ts';

/** A run right after creation, before its first record has a hash. */
export function createRun(id: RunId, epoch: number, run: NewRun, at: Timestamp): RunRecord {
  return {
    ...run,
    id,
    epoch,
    version: 1,
    frames: 0,
    inputSeq: 0,
    nextSeq: 0,
    records: 1,
    head: EMPTY_HEAD,
    createdAt: at,
    updatedAt: at,
    ...(run.status === 'running' ? { startedAt: at } : {}),
  };
}

/** A run after a change, or why the change is not allowed. */
export function changeRun(before: RunRecord, change: RunChange, at: Timestamp): Result<RunRecord, string> {
  const { status = before.status, epoch = before.epoch, inputSeq = before.inputSeq } = change;
  if (!mayRunFollow(before.status, status)) return err(`it cannot go from ${before.status} to ${status}`);
  if (change.epoch !== undefined && epoch <= before.epoch) return err(`epoch ${epoch} does not follow ${before.epoch}`);
  if (inputSeq < before.inputSeq) return err(`inputs before event ${before.inputSeq} were taken in already`);

  const changed: RunRecord = { ...before, ...withoutNulls(change), status, epoch, inputSeq };
  if (change.source !== undefined && before.source !== undefined) {
    changed.earlierPlans = [...(before.earlierPlans ?? []), before.source];
  }
  for (const [key, value] of Object.entries(change)) {
    if (value === null && (key === 'stopReason' || key === 'error' || key === 'owner')) delete changed[key];
  }
  if (status === 'running') {
    changed.startedAt ??= at;
    delete changed.endedAt;
  } else if (hasRunEnded(status) && !hasRunEnded(before.status)) {
    changed.endedAt = at;
  }
  return ok(changed);
}

/** A run after it was kept or collapsed. */
export function retainRun(before: RunRecord, { kept, collapse }: RetentionWrite): RunRecord {
  const { kept: was, ...rest } = before;
  const mark = kept === undefined ? was : (kept ?? undefined);
  return {
    ...rest,
    ...(mark === undefined ? {} : { kept: mark }),
    ...(collapse === undefined ? {} : { collected: [...(before.collected ?? []), ...collapse] }),
  };
}

/** `output` may be null as a value; every other null removes a field. */
function withoutNulls(change: RunChange): Partial<RunRecord> {
  return Object.fromEntries(
    Object.entries(change).filter(([key, value]) => value !== undefined && (value !== null || key === 'output')),
  );
}
