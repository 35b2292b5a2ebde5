import { defined, type ErrorEnvelope, type Result } from '@signalbox/model';
import { recoverApply } from '../layers/layer-recovery.ts';
import { restoreFailed, type StateError } from '../snapshots/snapshot-error.ts';
import type { KeptFiles } from '../snapshots/snapshotable.ts';
import { restoreUnlessMoved } from '../snapshots/two-phase-restore.ts';
import type { FilesystemSnapshot } from './filesystem.ts';
import { type HostFiles, nodeHostFiles } from './host-files.ts';
import type { HostFilesystem } from './host-filesystem.ts';
import { closeStaging } from './host-restore.ts';
import { overlap, type PathLocks } from './path-locks.ts';
import { removeTree } from './remove-tree.ts';
import type { RestoreStep } from './restore-plan.ts';
import { exists, firstUndoneStep, performSteps, type StepPlace } from './restore-steps.ts';
import { rootReplaced } from './root-identity.ts';
import { closedName, preparedName, stagingName } from './staging-name.ts';
import { thrownReason } from './system-reason.ts';
import { nodeAt, sameAttributes, sameNode } from './tree.ts';
import type { UndoLog, UndoRecord } from './undo-log.ts';

/** The outcome of recovering an interrupted call or restore. */
export interface Recovery {
  /** The id of the call or restore. */
  readonly id: string;
  readonly tool: string;
  /** The task of the call, if known. */
  readonly evaluation?: string;
  readonly outcome: /** The tree is as it was before the call, except where others changed it after the call's process was last known to live. */
    | {
        readonly kind: 'rolled-back';
        readonly lost: readonly string[];
        /** Kept copies of what was overwritten or removed; null if nothing was. */
        readonly kept: KeptFiles | null;
        /** Paths left alone because they were changed later. */
        readonly left: readonly string[];
      }
    /** A started restore was finished. */
    | { readonly kind: 'restore-finished'; readonly kept: KeptFiles | null }
    /** A restore that had not changed anything yet was dropped. */
    | { readonly kind: 'restore-dropped' }
    /** The call worked on a layer, which was dropped: there was nothing to restore. `isUntouched`: nothing was written on it. */
    | { readonly kind: 'dropped'; readonly isUntouched?: boolean }
    /** The changes of a layer were being applied: all of them are applied, because the call had succeeded. */
    | { readonly kind: 'applied'; readonly paths: readonly string[] }
    /** They were reverted, except where somebody changed something since. `kept` is what they had replaced. */
    | {
        readonly kind: 'taken-back';
        readonly paths: readonly string[];
        readonly left: readonly string[];
        readonly kept: KeptFiles | null;
      }
    /** The call cannot be undone, and nobody knows whether it happened. */
    | { readonly kind: 'outcome-unknown' }
    /** Recovery failed; the record stays, and the next recovery retries. */
    | { readonly kind: 'failed'; readonly error: ErrorEnvelope };
}

type FilesWork = Extract<UndoRecord['work'], { kind: 'files' }>;

/**
 * Finishes the work of a dead process, and reports it. Called at every start, before any call, and for a directory where a
 * rollback failed, before it is used again. A record whose root is held by a living process waits for that process.
 */
export async function recoverPending(options: {
  readonly undoLog: UndoLog;
  readonly locks: PathLocks;
  readonly open: (root: string) => Result<HostFilesystem, ErrorEnvelope>;
  readonly files?: HostFiles;
  readonly signal?: AbortSignal;
  /** Only work interrupted in this directory, or in one around or inside it, while other calls continue. */
  readonly root?: string;
  /** Called with the outcome of a call, before its record is removed. */
  readonly onRecovered?: (recovery: Recovery, work: Pick<FilesWork, 'root' | 'before'>) => Promise<void>;
}): Promise<readonly Recovery[]> {
  const { undoLog, files = nodeHostFiles } = options;
  const recoveries: Recovery[] = [];
  for (const record of await undoLog.pending()) {
    const { id, callId, tool, work, evaluation } = record;
    const call = { id: callId, tool, ...defined({ evaluation }) };
    if (options.root !== undefined && (work.kind === 'external' || !overlap(work.root, options.root))) continue;
    if (work.kind === 'external') {
      await undoLog.remove(id);
      recoveries.push({ ...call, outcome: { kind: 'outcome-unknown' } });
      continue;
    }
    const lock = await options.locks.acquire(work.root, 'exclusive', options.signal);
    if (!lock.ok) {
      recoveries.push({ ...call, outcome: { kind: 'failed', error: lock.error } });
      continue;
    }
    try {
      const outcome =
        work.kind === 'layer'
          ? appliedOutcome(record, work, files)
          : await recoverFiles(record, work, { ...options, files });
      const recovery = { ...call, outcome };
      // Kept files are accounted for before the record that names them is removed.
      if (outcome.kind !== 'failed') await options.onRecovered?.(recovery, work);
      if (outcome.kind !== 'failed') await undoLog.remove(id);
      recoveries.push(recovery);
    } finally {
      lock.value();
    }
  }
  return recoveries;
}

function appliedOutcome(
  { callId }: UndoRecord,
  work: Extract<UndoRecord['work'], { kind: 'layer' }>,
  files: HostFiles,
): Recovery['outcome'] {
  try {
    const recovery = recoverApply(callId, work, files);
    if (recovery.kind === 'taken-back') {
      const { left } = recovery;
      return {
        ...recovery,
        kept: work.before === null || left.length === 0 ? null : { digest: work.before, paths: left },
      };
    }
    if (recovery.kind === 'applied') return recovery;
    return { kind: 'failed', error: restoreFailed(`${work.root} is another directory now`, { state: 'unchanged' }) };
  } catch (cause) {
    const reason = thrownReason(cause);
    return { kind: 'failed', error: restoreFailed(reason, { state: 'unchanged' }) };
  }
}

interface RecoveryPorts {
  readonly undoLog: UndoLog;
  readonly open: (root: string) => Result<HostFilesystem, ErrorEnvelope>;
  readonly files: HostFiles;
}

async function recoverFiles(
  record: UndoRecord,
  work: FilesWork,
  { undoLog, open, files }: RecoveryPorts,
): Promise<Recovery['outcome']> {
  try {
    // The device is not compared: its number may change when the machine restarts.
    const replaced = work.identity === undefined ? undefined : rootReplaced(work.root, work.identity);
    if (replaced !== undefined) return { kind: 'failed', error: replaced };
    const staging = `${work.root}/${work.restoring?.staging ?? work.staging ?? stagingName(record.id)}`;
    const place = { files, root: work.root, staging };
    if (work.restoring !== undefined && hasBegun(place, work.restoring.steps)) {
      const opened = work.kept === undefined ? undefined : open(work.root);
      if (opened?.ok === false) return { kind: 'failed', error: opened.error };
      return await finishSteps(place, work.restoring.steps, work.kept, opened?.value);
    }
    for (const copies of [preparedName(staging), staging]) removeTree(files, copies);
    if (work.before === null) return { kind: 'restore-dropped' };
    const opened = open(work.root);
    if (!opened.ok) return { kind: 'failed', error: opened.error };
    const before = await opened.value.decode({ root: work.before });
    if (!before.ok) return { kind: 'failed', error: before.error };
    if (work.restoring !== undefined && (await isThrough(opened.value, before.value, work.restoring.steps))) {
      return { kind: 'restore-finished', kept: work.kept ?? null };
    }
    return await rollBack(record, work, before.value, opened.value, undoLog);
  } catch (cause) {
    const reason = thrownReason(cause);
    return { kind: 'failed', error: restoreFailed(reason, { state: 'unchanged' }) };
  }
}

/**
 * Whether a step may have been done. The record may be on disk without the staged entries: then there is nothing to continue
 * with, but nothing was done either. Entries that were moved aside are better evidence than the name of their directory.
 */
function hasBegun({ files, staging }: StepPlace, steps: readonly RestoreStep[]): boolean {
  const prepared = preparedName(staging);
  if (steps.some(step => step.op === 'aside' && exists(`${prepared}/${step.as}`))) files.rename(prepared, staging);
  return exists(staging) || exists(closedName(staging));
}

/**
 * Whether a restore without a staging directory was finished, and only its record reappeared: then everything it would
 * change is as before the call.
 */
async function isThrough(
  tree: HostFilesystem,
  before: FilesystemSnapshot,
  steps: readonly RestoreStep[],
): Promise<boolean> {
  const present = await tree.snapshot();
  if (!present.ok) return false;
  return steps.every(({ path }) => {
    const parts = path === '' ? [] : path.split('/');
    const now = nodeAt(present.value.tree, parts);
    const then = nodeAt(before.tree, parts);
    return now?.kind === 'directory' && then?.kind === 'directory' ? sameAttributes(now, then) : sameNode(now, then);
  });
}

async function rollBack(
  record: UndoRecord,
  work: FilesWork,
  before: FilesystemSnapshot,
  tree: HostFilesystem,
  undoLog: UndoLog,
): Promise<Recovery['outcome']> {
  const { paths } = work;
  // Paths that the call declared are restored whoever wrote them last, but their current content is kept.
  const endedAt = paths === undefined ? await lastAlive(record, work, tree, undoLog) : AFTER_EVERYTHING;
  const scope = { endedAt, ...(paths && { paths }) };
  const restored = await restoreUnlessMoved(() => tree.stage(before, { id: record.callId, left: 'present', ...scope }));
  if (!restored.ok) return { kind: 'failed', error: restored.error satisfies StateError };
  const { lost, kept, left } = restored.value;
  return { kind: 'rolled-back', lost, kept, left: [...left, ...(await programsTakenBack(work, tree, endedAt))] };
}

/** What the call left for git to run is set aside; returns where. */
async function programsTakenBack(work: FilesWork, tree: HostFilesystem, until: number): Promise<readonly string[]> {
  const guard = work.programs === undefined ? undefined : await tree.guardAgain(work.programs);
  return guard === undefined ? [] : guard.takeBack(await guard.changed(), until);
}

const AFTER_EVERYTHING = Number.MAX_SAFE_INTEGER;

/** Tolerance when comparing two readings of the same clock. */
const SAME_CLOCK_MS = 1000;

/**
 * When the call's process was last known to be alive, on the clock of the root's filesystem. Recorded first, because it
 * derives from the log's own timestamp of the record.
 */
async function lastAlive(record: UndoRecord, work: FilesWork, tree: HostFilesystem, undoLog: UndoLog): Promise<number> {
  if (work.endedAt !== undefined) return work.endedAt;
  const alive = (await undoLog.lastAlive(record.id)) ?? record.startedAt;
  const skew = (await tree.mark(record.callId)) - ((await undoLog.touch(record.id)) ?? 0);
  const endedAt = Math.abs(skew) > SAME_CLOCK_MS ? alive + skew : alive;
  await undoLog.put({ ...record, work: { ...work, endedAt } });
  return endedAt;
}

async function finishSteps(
  place: StepPlace,
  steps: readonly RestoreStep[],
  kept: KeptFiles | undefined,
  tree: HostFilesystem | undefined,
): Promise<Recovery['outcome']> {
  let all = kept;
  if (exists(place.staging)) {
    const skipped = kept === undefined ? undefined : [];
    const outcome = performSteps(place, steps, { from: firstUndoneStep(place, steps), skipped });
    if (outcome.kind !== 'done') {
      const reason = outcome.kind === 'conflict' ? 'someone else made it since' : thrownReason(outcome.cause);
      const at = (from: number, to?: number) => steps.slice(from, to).map(step => step.path);
      const report = {
        state: 'partly-restored' as const,
        restored: at(0, outcome.done),
        notRestored: at(outcome.done),
        staging: place.staging.slice(place.root.length + 1),
      };
      return { kind: 'failed', error: restoreFailed(`${outcome.path}: ${reason}`, report) };
    }
    if (kept !== undefined) all = (await tree?.keepLate(kept, steps, place.staging)) ?? kept;
  }
  await closeStaging(place, steps);
  return { kind: 'restore-finished', kept: all ?? null };
}
