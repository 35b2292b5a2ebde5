import { type ErrorEnvelope, failure } from '@signalbox/model';
import { shownPath } from '../filesystem/path-name.ts';

export type SnapshotMismatchError = ErrorEnvelope<'state/snapshot-mismatch'>;
export type UnregisteredSliceError = ErrorEnvelope<'state/slice-unregistered'>;
export type SnapshotMalformedError = ErrorEnvelope<'state/snapshot-malformed'>;
type SnapshotVersionError = ErrorEnvelope<'state/snapshot-version'>;
export type SnapshotFailedError = ErrorEnvelope<'state/snapshot-failed'>;
export type ConflictError = ErrorEnvelope<'state/conflict'>;

/** A restore that could not be finished, and the resulting state on disk. */
export interface RestoreFailedError extends ErrorEnvelope<'state/restore-failed'> {
  readonly onDisk: DiskReport;
}

/** How a failed restore left the tree. Paths are relative to the root. */
export type DiskReport =
  | { readonly state: 'unchanged' }
  | {
      readonly state: 'partly-restored';
      /** As in the snapshot. */
      readonly restored: readonly string[];
      /** As the call left them. */
      readonly notRestored: readonly string[];
      /** The directory inside the root that holds replaced entries and entries not yet restored. */
      readonly staging: string;
    };

/** Why a state could not be captured or restored. */
export type StateError =
  | SnapshotMismatchError
  | UnregisteredSliceError
  | SnapshotMalformedError
  | SnapshotVersionError
  | SnapshotFailedError
  | ConflictError
  | RestoreFailedError
  | ErrorEnvelope<
      | 'state/content-missing'
      | 'state/content-corrupt'
      | 'state/dispatch-failed'
      | 'state/recovery-needed'
      | 'state/root-replaced'
    >;

export function snapshotMismatch(reason: string): SnapshotMismatchError {
  return failure('state/snapshot-mismatch', {
    message: `the snapshot does not fit this state: ${reason}`,
    suggestion: 'Nothing was changed. Restore it into a state with the same slices and resources.',
  });
}

export function snapshotMalformed(reason: string): SnapshotMalformedError {
  return failure('state/snapshot-malformed', {
    message: `this is not a snapshot: ${reason}`,
    suggestion: 'Nothing was changed. Read the snapshot from its store again, or use another one.',
  });
}

export function snapshotFailed(reason: string): SnapshotFailedError {
  return failure('state/snapshot-failed', {
    message: `the state could not be captured: ${reason}`,
    suggestion: 'Nothing was changed. Make the named path readable, or free disk space, and try again.',
  });
}

export function restoreFailed(reason: string, onDisk: DiskReport): RestoreFailedError {
  const unchanged = onDisk.state === 'unchanged';
  return {
    ...failure('state/restore-failed', {
      message: unchanged
        ? `the restore did not begin, and nothing was changed: ${reason}`
        : `the restore stopped halfway: ${reason}. Restored: ${count(onDisk.restored)}; not restored: ${count(onDisk.notRestored)}`,
      suggestion: unchanged
        ? 'Remove the cause, then restore again.'
        : `Remove the cause, then recover: replaced files are kept in ${onDisk.staging}.`,
      retry: { kind: 'retryable_immediate' },
      details: unchanged
        ? { state: 'unchanged' }
        : { ...onDisk, restored: some(onDisk.restored), notRestored: some(onDisk.notRestored) },
    }),
    onDisk,
  };
}

/** Changes of a layer or an undo, none of which were applied. */
export function applyFailed(reason: string): RestoreFailedError {
  return {
    ...failure('state/restore-failed', {
      message: `the changes could not be applied, and none of them were: ${reason}`,
      suggestion: 'Remove the cause, then try again.',
      retry: { kind: 'retryable_immediate' },
      details: { state: 'unchanged' },
    }),
    onDisk: { state: 'unchanged' },
  };
}

/** A call of the same run that changed some of the paths, if known. */
export interface LaterChange {
  readonly call: string;
  readonly tool: string;
  readonly paths: readonly string[];
}

export function conflict(paths: readonly string[], later: readonly LaterChange[] = []): ConflictError {
  const ofCalls = new Set(later.flatMap(one => one.paths));
  const others = paths.filter(path => !ofCalls.has(path));
  const who = [
    ...later.map(one => `call ${one.call} of ${one.tool} changed ${count(one.paths)}`),
    ...(others.length > 0 ? [`someone else changed ${count(others)}`] : []),
  ];
  const error: ConflictError = failure('state/conflict', {
    message: `${who.join(', and ')} since; nothing was overwritten`,
    suggestion:
      others.length === 0
        ? 'Undo that call first, the newest one before the others.'
        : 'Keep or move those changes, then restore again.',
    details: {
      paths: some(paths),
      total: paths.length,
      ...(later.length > 0 && {
        calls: later.map(one => ({ call: one.call, tool: one.tool, paths: some(one.paths) })),
      }),
    },
  });
  conflicting.set(error, paths);
  return error;
}

const conflicting = new WeakMap<object, readonly string[]>();

/** All paths of a conflict, as on disk. */
export function pathsOf(error: ErrorEnvelope): readonly string[] {
  return conflicting.get(error) ?? [];
}

const SHOWN = 20;

function some(paths: readonly string[]): readonly string[] {
  return paths.slice(0, SHOWN).map(shownPath);
}

function count(paths: readonly string[]): string {
  const names = paths.slice(0, 3).map(shownPath);
  return paths.length === 0
    ? 'nothing'
    : `${names.join(', ')}${paths.length > 3 ? ` and ${paths.length - 3} more` : ''}`;
}
