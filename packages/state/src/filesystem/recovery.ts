import type { Digest, ErrorEnvelope, Result } from '@signalbox/model';
import { recoverApply } from '../layers/layer-recovery.ts';
import { restoreFailed, type StateError } from '../snapshots/snapshot-error.ts';
import { restoreAll } from '../snapshots/two-phase-restore.ts';
import type { FilesystemSnapshot } from './filesystem.ts';
import { type HostFiles, nodeHostFiles, removeTree } from './host-files.ts';
import { type HostFilesystem, stagingName } from './host-filesystem.ts';
import { closedName, closeStaging, preparedName } from './host-restore.ts';
import type { PathLocks } from './path-locks.ts';
import type { RestoreStep } from './restore-plan.ts';
import { exists, firstUndoneStep, performSteps, type StepPlace } from './restore-steps.ts';
import { nodeAt, sameAttributes, sameNode } from './tree.ts';
import type { UndoLog, UndoRecord } from './undo-log.ts';

/** What became of a call, or a restore, that was cut short. */
export interface Recovery {
  /** The call's, or the restore's. */
  readonly id: string;
  readonly tool: string;
  readonly outcome: /** The tree is as it was before the call. `saved` holds the tree as it was found, if it could be kept. */
    | { readonly kind: 'rolled-back'; readonly saved: Digest | null; readonly lost: readonly string[] }
    /** A restore that had begun was finished. */
    | { readonly kind: 'restore-finished' }
    /** A restore had not begun to change anything, and was dropped. */
    | { readonly kind: 'restore-dropped' }
    /** The changes of a layer were being applied: all of them are, because the call had succeeded. */
    | { readonly kind: 'applied'; readonly paths: readonly string[] }
    /** They were taken back, but for what somebody changed since. `kept` is what was there before them. */
    | {
        readonly kind: 'taken-back';
        readonly paths: readonly string[];
        readonly left: readonly string[];
        readonly kept: Digest | null;
      }
    /** The call cannot be undone, and nobody knows whether it happened. */
    | { readonly kind: 'outcome-unknown' }
    /** It could not be finished; the record stays, and the next recovery tries again. */
    | { readonly kind: 'failed'; readonly error: ErrorEnvelope };
}

type FilesWork = Extract<UndoRecord['work'], { kind: 'files' }>;

/**
 * Finishes what a process that died had begun, and says what it was. To be called at every start, before any call.
 * A record whose root is held by a living process waits for that process.
 */
export async function recoverPending(options: {
  readonly undoLog: UndoLog;
  readonly locks: PathLocks;
  readonly open: (root: string) => Result<HostFilesystem, ErrorEnvelope>;
  readonly files?: HostFiles;
  readonly signal?: AbortSignal;
}): Promise<readonly Recovery[]> {
  const { undoLog, files = nodeHostFiles } = options;
  const recoveries: Recovery[] = [];
  for (const record of await undoLog.pending()) {
    const { id, callId, tool, work } = record;
    if (work.kind === 'external') {
      await undoLog.remove(id);
      recoveries.push({ id: callId, tool, outcome: { kind: 'outcome-unknown' } });
      continue;
    }
    const lock = await options.locks.acquire(work.root, 'exclusive', options.signal);
    if (!lock.ok) {
      recoveries.push({ id: callId, tool, outcome: { kind: 'failed', error: lock.error } });
      continue;
    }
    try {
      const outcome =
        work.kind === 'layer'
          ? appliedOutcome(record, work, files)
          : await recoverFiles(record, work, options.open, files);
      if (outcome.kind !== 'failed') await undoLog.remove(id);
      recoveries.push({ id: callId, tool, outcome });
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
    if (recovery.kind === 'taken-back') return { ...recovery, kept: work.before };
    if (recovery.kind === 'applied') return recovery;
    return { kind: 'failed', error: restoreFailed(`${work.root} is another directory now`, { state: 'unchanged' }) };
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return { kind: 'failed', error: restoreFailed(reason, { state: 'unchanged' }) };
  }
}

async function recoverFiles(
  record: UndoRecord,
  work: FilesWork,
  open: (root: string) => Result<HostFilesystem, ErrorEnvelope>,
  files: HostFiles,
): Promise<Recovery['outcome']> {
  try {
    const staging = `${work.root}/${work.restoring?.staging ?? stagingName(record.id)}`;
    const place = { files, root: work.root, staging };
    if (work.restoring !== undefined && hasBegun(place, work.restoring.steps)) {
      return await finishSteps(place, work.restoring.steps);
    }
    for (const copies of [preparedName(staging), staging]) removeTree(files, copies);
    if (work.before === null) return { kind: 'restore-dropped' };
    const opened = open(work.root);
    if (!opened.ok) return { kind: 'failed', error: opened.error };
    const before = await opened.value.decode({ root: work.before });
    if (!before.ok) return { kind: 'failed', error: before.error };
    if (work.restoring !== undefined && (await isThrough(opened.value, before.value, work.restoring.steps))) {
      return { kind: 'restore-finished' };
    }
    return await rollBack(record, before.value, work.paths, opened.value);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return { kind: 'failed', error: restoreFailed(reason, { state: 'unchanged' }) };
  }
}

/**
 * Whether a step may have been done. The record may be on disk without what was staged: then there is nothing to go on
 * with, but nothing was done either. What was moved aside tells more than the name of the directory it is in.
 */
function hasBegun({ files, staging }: StepPlace, steps: readonly RestoreStep[]): boolean {
  const prepared = preparedName(staging);
  if (steps.some(step => step.op === 'aside' && exists(`${prepared}/${step.as}`))) files.rename(prepared, staging);
  return exists(staging) || exists(closedName(staging));
}

/**
 * Whether a restore without a staging directory was finished, and only its record came back: then everything that it
 * would change is as before the call.
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
  before: FilesystemSnapshot,
  paths: readonly string[] | undefined,
  tree: HostFilesystem,
): Promise<Recovery['outcome']> {
  const saved = await savedTree(tree);
  const restored = await restoreAll([
    () => tree.stage(before, { id: record.callId, left: 'present', ...(paths && { paths }) }),
  ]);
  if (!restored.ok) return { kind: 'failed', error: restored.error satisfies StateError };
  return { kind: 'rolled-back', saved, lost: restored.value.lost };
}

/** Whoever worked in the directory since the crash finds their work here. A full disk does not keep it from going back. */
async function savedTree(tree: HostFilesystem): Promise<Digest | null> {
  const present = await tree.snapshot();
  if (!present.ok) return null;
  const kept = (await tree.encode(present.value)) as { readonly root: Digest };
  return kept.root;
}

async function finishSteps(place: StepPlace, steps: readonly RestoreStep[]): Promise<Recovery['outcome']> {
  if (exists(place.staging)) {
    const outcome = performSteps(place, steps, firstUndoneStep(place, steps));
    if (outcome.kind !== 'done') {
      const reason = outcome.kind === 'conflict' ? 'someone else made it since' : String(outcome.cause);
      const at = (from: number, to?: number) => steps.slice(from, to).map(step => step.path);
      const report = {
        state: 'partly-restored' as const,
        restored: at(0, outcome.done),
        notRestored: at(outcome.done),
        staging: place.staging.slice(place.root.length + 1),
      };
      return { kind: 'failed', error: restoreFailed(`${outcome.path}: ${reason}`, report) };
    }
  }
  await closeStaging(place, steps);
  return { kind: 'restore-finished' };
}
