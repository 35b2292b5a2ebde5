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
  /** Paths that are brought back; none where they are as before already. */
  readonly paths: readonly string[];
  /** Those of the paths that were not there before the call, and are removed. */
  readonly removed?: readonly string[] | undefined;
  /** What cannot be brought back, by name. */
  readonly lost: readonly string[];
  /** Paths that were changed since and stay as they are. Only where kept files are brought back. */
  readonly conflicts?: readonly string[] | undefined;
  /** Where what was kept of those is put instead, if copies are asked for. */
  readonly copies?: readonly string[] | undefined;
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
  /** The calls of the run that ended after this one. Asked for only if there is a conflict, to say whose doing it is. */
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

/** What a later call found and left, as far as it is known. */
export interface LaterCall {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly before: FilesystemSnapshot;
  readonly after: FilesystemSnapshot;
}

/** Which later calls changed some of the paths: each path is the last one's that did. */
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
 * The files as they were before or after a call. Where its checkpoint tells of the changed paths alone, they are what is there
 * `now`, without what that call and those after it did (`chain`, from that call on, oldest first); undefined where that is not
 * known.
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
      : `it ${outcome === 'failed' ? 'failed, and nothing of it was applied' : 'has an unknown outcome'}`;
  return failure('state/nothing-to-undo', {
    message: `there is nothing to undo of call ${toolCallId} of ${toolName}: ${why}`,
    suggestion: 'Choose a call that changed files. What a tool did elsewhere cannot be undone.',
  });
}
