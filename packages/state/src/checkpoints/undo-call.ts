import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import { type Filesystem, type FilesystemSnapshot, filesystem } from '../filesystem/filesystem.ts';
import type { LockError, PathLocks } from '../filesystem/path-locks.ts';
import { pathParts } from '../filesystem/path-name.ts';
import { type DirectoryNode, differingPaths, nodeAt, sameNode } from '../filesystem/tree.ts';
import type { CompositeSnapshot } from '../snapshots/composite-snapshot.ts';
import { conflict, type StateError } from '../snapshots/snapshot-error.ts';
import { restoreAll } from '../snapshots/two-phase-restore.ts';
import { type CallChanges, changesBetween, joinedChanges, treeBefore } from './call-changes.ts';
import type { ToolCheckpoint } from './checkpoint-store.ts';

export type NothingToUndoError = ErrorEnvelope<'state/nothing-to-undo'>;

/** What undoing a call changes, or would change. */
export interface CallUndo {
  /** Paths that are brought back; none where they are as before already. */
  readonly paths: readonly string[];
  /** What cannot be brought back, by name. */
  readonly lost: readonly string[];
}

/**
 * Undoes what one call did to files, and nothing else: what others did elsewhere stays, whenever that was. Where a path is
 * no longer as the call left it, nothing is overwritten and the conflict is told. With `dryRun` nothing is changed.
 */
export async function undoCall(options: {
  readonly files: Filesystem;
  readonly checkpoint: ToolCheckpoint;
  readonly locks: PathLocks;
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}): Promise<Result<CallUndo, StateError | LockError | NothingToUndoError>> {
  const { files, checkpoint, locks, dryRun = false } = options;
  const before = treeOf(checkpoint.pre);
  const after = checkpoint.post === null ? undefined : treeOf(checkpoint.post);
  const changed = before === undefined || after === undefined ? [] : differingPaths(before, after);
  if (before === undefined || after === undefined || changed.length === 0) return err(nothingToUndo(checkpoint));
  const lock = await locks.acquire(files.lockPath, 'exclusive', options.signal);
  if (!lock.ok) return lock;
  try {
    if (before.partial === true && files.undo !== undefined) {
      return await files.undo(changesBetween(before, after), { id: `undo:${checkpoint.toolCallId}`, dryRun });
    }
    const now = await files.snapshot();
    if (!now.ok) return now;
    const at = (tree: DirectoryNode, path: string) => nodeAt(tree, partsOf(path));
    const paths = changed.filter(path => !sameNode(at(now.value.tree, path), at(before, path)));
    const stage = () =>
      files.stage({ tree: before }, { id: `undo:${checkpoint.toolCallId}`, left: { snapshot: { tree: after } } });
    if (dryRun) {
      const staged = await stage();
      if (!staged.ok) return staged;
      await staged.value.discard();
      return ok({ paths, lost: staged.value.lost });
    }
    const restored = await restoreAll([stage]);
    return restored.ok ? ok({ paths, lost: restored.value.lost }) : restored;
  } finally {
    lock.value();
  }
}

/**
 * The files as they were before or after a call. Where its checkpoint tells of the changed paths alone, they are what is there
 * `now`, without what that call and those after it did (`chain`, from that call on, oldest first).
 */
export function treeAt(
  chain: readonly ToolCheckpoint[],
  phase: 'pre' | 'post',
  now: DirectoryNode,
): DirectoryNode | undefined {
  const [first] = chain;
  if (first === undefined) return undefined;
  const tree = treeOf(phase === 'post' ? (first.post ?? first.pre) : first.pre);
  if (tree === undefined || tree.partial !== true) return tree;
  const undone = phase === 'post' ? chain.slice(1) : chain;
  return treeBefore(now, joinedChanges(undone.map(callChanges)).changes);
}

/** What a call did to files. */
export function callChanges({ pre, post }: ToolCheckpoint): CallChanges {
  const [before, after] = [treeOf(pre), post === null ? undefined : treeOf(post)];
  return before === undefined || after === undefined ? new Map() : changesBetween(before, after);
}

/** Puts files into a directory that is empty, in one go. */
export async function putFiles(
  files: Filesystem,
  tree: DirectoryNode,
  id: string,
): Promise<Result<{ readonly lost: readonly string[] }, StateError>> {
  const present = await files.snapshot();
  if (!present.ok) return present;
  if (present.value.tree.entries.size > 0) return err(conflict([...present.value.tree.entries.keys()]));
  const { mode, uid, gid } = present.value.tree;
  const target = { tree: { ...tree, mode, uid, gid } };
  return restoreAll([() => files.stage(target, { id: `files:${id}`, left: 'present' })]);
}

function partsOf(path: string): readonly string[] {
  if (path === '.') return [];
  const parts = pathParts(path);
  return parts.ok ? parts.value : [];
}

function treeOf(snapshot: CompositeSnapshot): DirectoryNode | undefined {
  // The filesystem itself put this snapshot in.
  return (snapshot.resources.get(filesystem.name) as FilesystemSnapshot | undefined)?.tree;
}

function nothingToUndo({ toolCallId, toolName, outcome }: ToolCheckpoint): NothingToUndoError {
  const why =
    outcome === 'succeeded'
      ? 'it changed no files'
      : `it ${outcome === 'failed' ? 'failed' : 'has an unknown outcome'}`;
  return failure('state/nothing-to-undo', {
    message: `there is nothing to undo of call ${toolCallId} of ${toolName}: ${why}`,
    suggestion: 'Choose a call that changed files. What a tool did elsewhere cannot be undone.',
  });
}
