import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import { type Filesystem, type FilesystemSnapshot, filesystem } from '../filesystem/filesystem.ts';
import { reachOf } from '../filesystem/opened-paths.ts';
import { ownershipHere, sameAsGiven } from '../filesystem/ownership.ts';
import { isWithin, type LockError, type PathLocks } from '../filesystem/path-locks.ts';
import { pathParts } from '../filesystem/path-name.ts';
import { mergeRestore } from '../filesystem/restore-merge.ts';
import { type DirectoryNode, differingPaths, nodeAt } from '../filesystem/tree.ts';
import type { CompositeSnapshot } from '../snapshots/composite-snapshot.ts';
import { conflict, type LaterChange, pathsOf, type StateError } from '../snapshots/snapshot-error.ts';
import { restoreAll } from '../snapshots/two-phase-restore.ts';
import { type CallChanges, changesBetween, joinedChanges, removedIn, treeBefore } from './call-changes.ts';
import type { ToolCheckpoint } from './checkpoint-store.ts';

export type NothingToUndoError = ErrorEnvelope<'state/nothing-to-undo'>;

/** What undoing a call changes, or would change. */
export interface CallUndo {
  /** Restored paths; empty if they already are as before. */
  readonly paths: readonly string[];
  /** Paths that did not exist before the call and are removed. */
  readonly removed?: readonly string[] | undefined;
  /** Names of what cannot be restored. */
  readonly lost: readonly string[];
  /** Paths that have changed since and are not touched. Only when restoring kept files. */
  readonly conflicts?: readonly string[] | undefined;
  /** Where copies of those are written, if requested. */
  readonly copies?: readonly string[] | undefined;
}

/**
 * Undoes the file changes of one call, and nothing else: changes by others elsewhere stay. If a path has changed since the
 * call, nothing is overwritten and the conflict is reported. With `dryRun` nothing is changed.
 */
export async function undoCall(options: {
  readonly files: Filesystem;
  readonly checkpoint: ToolCheckpoint;
  readonly locks: PathLocks;
  readonly dryRun?: boolean;
  /** The calls of the run that ended after this one. Read only to attribute a conflict. */
  readonly later?: () => Promise<readonly LaterCall[]>;
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
      const changes = changesBetween(before, after);
      const undone = await files.undo(changes, { id: `undo:${checkpoint.toolCallId}`, dryRun });
      if (undone.ok) return ok({ ...undone.value, removed: removedIn(changes, undone.value.paths) });
      return undone.error.code === 'state/conflict' ? err(await byWhom(pathsOf(undone.error))) : undone;
    }
    const now = await files.snapshot();
    if (!now.ok) return now;
    const at = (tree: DirectoryNode, path: string) => nodeAt(tree, partsOf(path));
    const owners = ownershipHere();
    const paths = changed.filter(path => !sameAsGiven(at(now.value.tree, path), at(before, path), owners));
    const stage = () =>
      files.stage({ tree: before }, { id: `undo:${checkpoint.toolCallId}`, left: { snapshot: { tree: after } } });
    const told = async (error: StateError) => {
      if (error.code !== 'state/conflict') return err(error);
      const reach = files.root === null ? {} : { reach: reachOf(files.root) };
      const moved = mergeRestore({ left: after, target: before, now: now.value.tree }, reach).conflicts;
      return err(moved.length === 0 ? error : await byWhom(moved));
    };
    const broughtBack = ({ lost }: { readonly lost: readonly string[] }) => {
      const restored = paths.filter(path => !lost.includes(path));
      return ok({ paths: restored, removed: restored.filter(path => at(before, path) === undefined), lost });
    };
    if (dryRun) {
      const staged = await stage();
      if (!staged.ok) return await told(staged.error);
      await staged.value.discard();
      return broughtBack(staged.value);
    }
    const restored = await restoreAll([stage]);
    return restored.ok ? broughtBack(restored.value) : await told(restored.error);
  } finally {
    lock.value();
  }

  async function byWhom(paths: readonly string[]): Promise<StateError> {
    return conflict(paths, laterChanges(paths, (await options.later?.()) ?? []));
  }
}

/** What a later call found and left, if known. */
export interface LaterCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly before: FilesystemSnapshot;
  readonly after: FilesystemSnapshot;
}

/** The later calls that changed some of the paths: each path belongs to the last call that changed it. */
function laterChanges(paths: readonly string[], calls: readonly LaterCall[]): readonly LaterChange[] {
  const found = new Map<LaterCall, string[]>();
  const changes = calls.map(call => ({ call, changed: differingPaths(call.before.tree, call.after.tree) }));
  for (const path of paths) {
    const last = changes.findLast(one => one.changed.some(own => isWithin(own, path) || isWithin(path, own)));
    if (last !== undefined) found.set(last.call, [...(found.get(last.call) ?? []), path]);
  }
  return [...found].map(([{ toolCallId, toolName }, own]) => ({ call: toolCallId, tool: toolName, paths: own }));
}

/**
 * The files as they were before or after a call. If its checkpoint contains only the changed paths, they are computed from
 * `now` by removing the changes of that call and later ones (`chain`, from that call on, oldest first); undefined if those are
 * unknown.
 */
export function treeAt(
  chain: readonly ToolCheckpoint[],
  phase: 'pre' | 'post',
  now: DirectoryNode | undefined,
): DirectoryNode | undefined {
  const [first] = chain;
  if (first === undefined) return undefined;
  const tree = treeOf(phase === 'post' ? (first.post ?? first.pre) : first.pre);
  if (tree === undefined || tree.partial !== true) return tree;
  if (now === undefined) return undefined;
  const undone = phase === 'post' ? chain.slice(1) : chain;
  return treeBefore(now, joinedChanges(undone.map(callChanges)).changes);
}

/** The file changes of a call. */
export function callChanges({ pre, post }: ToolCheckpoint): CallChanges {
  const [before, after] = [treeOf(pre), post === null ? undefined : treeOf(post)];
  return before === undefined || after === undefined ? new Map() : changesBetween(before, after);
}

/** Writes files into an empty directory in one step. */
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

export function treeOf(snapshot: CompositeSnapshot): DirectoryNode | undefined {
  // The filesystem itself added this snapshot.
  return (snapshot.resources.get(filesystem.name) as FilesystemSnapshot | undefined)?.tree;
}

function nothingToUndo({ toolCallId, toolName, outcome }: ToolCheckpoint): NothingToUndoError {
  const why =
    outcome === 'succeeded'
      ? 'it changed no files'
      : `it ${outcome === 'failed' ? 'failed, and nothing of it was applied' : 'has an unknown outcome'}`;
  return failure('state/nothing-to-undo', {
    message: `call ${toolCallId} of ${toolName} has nothing to undo: ${why}`,
    suggestion: 'Choose a call that changed files. Effects elsewhere cannot be undone.',
  });
}
