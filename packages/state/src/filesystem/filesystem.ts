import { type Digest, type ErrorEnvelope, failure, type Result } from '@signalbox/model';
import type { CallChanges } from '../checkpoints/call-changes.ts';
import type { GitGuard } from '../git/git-guard.ts';
import type { Layering } from '../layers/layering.ts';
import type { UndoneChanges } from '../layers/undo-changes.ts';
import { defineResource } from '../snapshots/resources.ts';
import type { StateError } from '../snapshots/snapshot-error.ts';
import type { Snapshotable } from '../snapshots/snapshotable.ts';
import { type PathRefusedError, shownPath } from './path-name.ts';
import type { DirectoryNode } from './tree.ts';

export type FileFailedError = ErrorEnvelope<'state/file-failed'>;
export type FileError = FileFailedError | PathRefusedError;
export type FileResult<T> = Promise<Result<T, FileError>>;

/** Files under one root. Paths are relative to it; symlinks are followed while they stay inside. */
export interface Files {
  read(path: string): FileResult<Uint8Array>;
  /** Creates the file, or replaces its content and keeps its mode. Missing parents are created. */
  write(path: string, content: Uint8Array | string): FileResult<void>;
  /** Removes a file, a link, or a directory with everything in it. */
  remove(path: string): FileResult<void>;
  rename(from: string, to: string): FileResult<void>;
  mkdir(path: string): FileResult<void>;
  symlink(target: string, path: string): FileResult<void>;
  chmod(path: string, mode: number): FileResult<void>;
  list(path: string): FileResult<readonly FileEntry[]>;
  stat(path: string): FileResult<FileEntry>;
}

export interface FileEntry {
  readonly name: string;
  readonly kind: 'file' | 'directory' | 'link' | 'other';
  readonly size: number;
  readonly mode: number;
}

/** A filesystem as a resource of an execution state: it can be captured and restored, and takes part in calls. */
export interface Filesystem extends Files, Snapshotable<FilesystemSnapshot> {
  /** Identifies equal and nested roots. */
  readonly lockPath: string;
  /** The directory on the host, if any. */
  readonly root: string | null;
  /** Absolute host paths that no path may enter. */
  readonly refused: readonly string[];
  /** Layers of the root, if available. */
  readonly layering?: Layering;
  /**
   * Undoes the changes of calls at some paths, all or nothing, and never overwrites changes by others. Absent if files are
   * not on disk.
   */
  undo?(
    changes: CallChanges,
    how: { readonly id: string; readonly dryRun?: boolean },
  ): Promise<Result<UndoneChanges, StateError>>;
  /** The target of a path, with links followed, relative to the root. */
  locate(path: string): Result<string, FileError>;
  /** Other paths under the root that name the same files as these do (hard links). */
  linkedPaths(paths: readonly string[], signal?: AbortSignal): Promise<readonly string[]>;
  /** Watches what git would run while a call changes some paths, or anything. Absent if files are not on disk. */
  guard?(before: FilesystemSnapshot, paths: readonly string[] | undefined): Promise<GitGuard>;
  /** Records that a call begins. Refused while an earlier one on this root has neither ended nor been recovered. */
  begin(call: FileCall): Promise<Result<{ readonly startedAt: number }, StateError>>;
  /** Records that the process of a call is alive. */
  alive(id: string): Promise<void>;
  /** The current instant on the clock that stamps changes under the root. Taken when a call's process has ended. */
  mark(id: string): Promise<number>;
  /** The call has ended and its changes stay. */
  end(id: string): Promise<void>;
  /** Names of a snapshot's opaque directories that changed since an instant returned by `begin`. */
  changedOpaque(before: FilesystemSnapshot, since: number): Promise<readonly string[]>;
}

export interface FileCall {
  readonly id: string;
  readonly tool: string;
  readonly before: FilesystemSnapshot;
  readonly paths?: readonly string[];
  /** What git ran before it, if it may change that. */
  readonly programs?: Digest | undefined;
  /** What the call is charged to. */
  readonly evaluation?: string;
}

export const filesystem = defineResource<Filesystem>('Filesystem');

/** An immutable picture of everything under the root. */
export interface FilesystemSnapshot {
  readonly tree: DirectoryNode;
}

export function fileFailed(path: string, reason: string): FileFailedError {
  return failure('state/file-failed', {
    message: `${JSON.stringify(shownPath(path))}: ${reason}`,
    suggestion: 'List the directory, then try again.',
  });
}
