import type { Digest, ErrorEnvelope, Result } from '@signalbox/model';
import { restoreFailed, type StateError } from '../snapshots/snapshot-error.ts';
import { restoreAll } from '../snapshots/two-phase-restore.ts';
import { type HostFiles, nodeHostFiles, removeTree } from './host-files.ts';
import { type HostFilesystem, stagingName } from './host-filesystem.ts';
import { closeStaging } from './host-restore.ts';
import type { PathLocks } from './path-locks.ts';
import { exists, firstUndoneStep, performSteps } from './restore-steps.ts';
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
      const outcome = await recoverFiles(record, work, options.open, files);
      if (outcome.kind !== 'failed') await undoLog.remove(id);
      recoveries.push({ id: callId, tool, outcome });
    } finally {
      lock.value();
    }
  }
  return recoveries;
}

async function recoverFiles(
  record: UndoRecord,
  work: FilesWork,
  open: (root: string) => Result<HostFilesystem, ErrorEnvelope>,
  files: HostFiles,
): Promise<Recovery['outcome']> {
  try {
    if (work.restoring !== undefined) return await finishRestore(work, work.restoring, files);
    const { before } = work;
    if (before === null) {
      removeTree(files, `${work.root}/${stagingName(record.id)}`);
      return { kind: 'restore-dropped' };
    }
    const opened = open(work.root);
    if (!opened.ok) return { kind: 'failed', error: opened.error };
    removeTree(files, `${work.root}/${stagingName(record.id)}`);
    return await rollBack(record, before, work.paths, opened.value);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return { kind: 'failed', error: restoreFailed(reason, { state: 'unchanged' }) };
  }
}

async function rollBack(
  record: UndoRecord,
  to: Digest,
  paths: readonly string[] | undefined,
  tree: HostFilesystem,
): Promise<Recovery['outcome']> {
  const before = await tree.decode({ root: to });
  if (!before.ok) return { kind: 'failed', error: before.error };
  const saved = await savedTree(tree);
  const restored = await restoreAll([
    () => tree.stage(before.value, { id: record.callId, left: 'present', ...(paths && { paths }) }),
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

async function finishRestore(
  work: FilesWork,
  { staging, steps }: NonNullable<FilesWork['restoring']>,
  files: HostFiles,
): Promise<Recovery['outcome']> {
  const place = { files, root: work.root, staging: `${work.root}/${staging}` };
  if (exists(place.staging)) {
    const outcome = performSteps(place, steps, firstUndoneStep(place, steps));
    if (outcome.kind !== 'done') {
      const reason = outcome.kind === 'conflict' ? 'someone else made it since' : String(outcome.cause);
      const at = (from: number, to?: number) => steps.slice(from, to).map(step => step.path);
      const report = {
        state: 'partly-restored' as const,
        restored: at(0, outcome.done),
        notRestored: at(outcome.done),
        staging,
      };
      return { kind: 'failed', error: restoreFailed(`${outcome.path}: ${reason}`, report) };
    }
  }
  await closeStaging(place, steps);
  return { kind: 'restore-finished' };
}
