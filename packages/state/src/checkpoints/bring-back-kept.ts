import { type Digest, type ErrorEnvelope, failure, ok, type Result } from '@signalbox/model';
import type { Filesystem, FilesystemSnapshot } from '../filesystem/filesystem.ts';
import { overlaid } from '../filesystem/kept-files.ts';
import type { LockError, PathLocks } from '../filesystem/path-locks.ts';
import { partsOf } from '../filesystem/path-name.ts';
import { type DirectoryNode, nodeAt, sameNode, type TreeNode, withNode } from '../filesystem/tree.ts';
import type { StateError } from '../snapshots/snapshot-error.ts';
import type { KeptFiles } from '../snapshots/snapshotable.ts';
import { restoreAll } from '../snapshots/two-phase-restore.ts';

export type NothingKeptError = ErrorEnvelope<'state/nothing-to-undo'>;

/** A call whose rollback kept files: the files before the call, and the kept ones. */
export interface KeptCall {
  readonly id: string;
  readonly before: Digest;
  readonly kept: KeptFiles;
}

/** What restoring kept files changes, or would change. */
export interface KeptBroughtBack {
  readonly paths: readonly string[];
  /** Kept paths that have changed since the rollback and are not touched. */
  readonly conflicts: readonly string[];
  /** Where copies of those are written, if requested. */
  readonly copies?: readonly string[] | undefined;
  readonly lost: readonly string[];
}

/**
 * Restores files that the rollback of a call overwrote or removed. A path that has changed since the rollback is left alone
 * and reported; with `copies`, the kept version is written next to it under a free name. With `dryRun` nothing is changed.
 */
export async function bringBackKept(options: {
  readonly files: Filesystem;
  readonly call: KeptCall;
  readonly locks: PathLocks;
  /** Kept paths to skip. */
  readonly except?: ReadonlySet<string>;
  readonly copies?: boolean;
  readonly dryRun?: boolean;
  readonly signal?: AbortSignal;
}): Promise<Result<KeptBroughtBack, StateError | LockError>> {
  const { files, call, locks, dryRun = false } = options;
  const before = await files.decode({ root: call.before });
  if (!before.ok) return before;
  const kept = await files.decode({ root: call.kept.digest });
  if (!kept.ok) return kept;
  const lock = await locks.acquire(files.lockPath, 'exclusive', options.signal);
  if (!lock.ok) return lock;
  try {
    const now = await files.snapshot();
    if (!now.ok) return now;
    const trees = { before: before.value, kept: kept.value, now: now.value };
    const { except = new Set<string>(), copies: wantsCopies = false } = options;
    const { target, left, paths, conflicts, copies } = planned(call.kept, trees, except, wantsCopies);
    const told = { paths, conflicts, ...(wantsCopies && { copies }) };
    const id = `kept:${call.id}`;
    const stage = () => files.stage({ tree: target }, { id, left: { snapshot: { tree: left } } });
    if (dryRun) {
      const staged = await stage();
      if (!staged.ok) return staged;
      await staged.value.discard();
      return ok({ ...told, lost: staged.value.lost });
    }
    const restored = await restoreAll([stage]);
    return restored.ok ? ok({ ...told, lost: restored.value.lost }) : restored;
  } finally {
    lock.value();
  }
}

interface Trees {
  readonly before: FilesystemSnapshot;
  readonly kept: FilesystemSnapshot;
  readonly now: FilesystemSnapshot;
}

/** The tree before the call with every kept path that can be restored. */
function planned(kept: KeptFiles, trees: Trees, except: ReadonlySet<string>, wantsCopies: boolean) {
  const paths: string[] = [];
  const conflicts: string[] = [];
  const copies: string[] = [];
  let left = trees.before.tree;
  let target = overlaid(left, trees.kept.tree);
  for (const path of kept.paths) {
    const parts = partsOf(path);
    if (except.has(path)) {
      target = withBefore(target, trees.before.tree, parts);
      continue;
    }
    const [before, wanted, now] = [trees.before, { tree: target }, trees.now].map(({ tree }) => nodeAt(tree, parts));
    if (isSame(now, wanted)) continue;
    if (isSame(now, before) && !isBlocked(trees.now.tree, trees.before.tree, parts)) paths.push(path);
    else {
      conflicts.push(path);
      target = withBefore(target, trees.before.tree, parts);
      const node = nodeAt(trees.kept.tree, parts);
      if (!wantsCopies || node === undefined || node.kind === 'directory') continue;
      const beside = freeBeside(parts, [trees.now.tree, target]);
      left = withDirectories(left, beside, depth => nodeAt(trees.now.tree, beside.slice(0, depth)));
      target = withDirectories(
        target,
        beside,
        depth => nodeAt(trees.now.tree, beside.slice(0, depth)) ?? nodeAt(trees.kept.tree, parts.slice(0, depth)),
      );
      target = withNode(target, beside, node);
      copies.push(beside.join('/'));
    }
  }
  return { target, left, paths, conflicts, copies };
}

/** A free path next to another one: renamed from the first part that is not a directory now. */
function freeBeside(parts: readonly string[], trees: readonly [DirectoryNode, DirectoryNode]): readonly string[] {
  const at = parts.findIndex((_, index) => nodeAt(trees[0], parts.slice(0, index + 1))?.kind !== 'directory');
  const depth = at === -1 ? parts.length - 1 : at;
  for (let number = 1; ; number++) {
    const name = `${parts[depth]}.kept${number === 1 ? '' : `-${number}`}`;
    const beside = [...parts.slice(0, depth), name, ...parts.slice(depth + 1)];
    if (trees.every(tree => nodeAt(tree, beside) === undefined)) return beside;
  }
}

/** A tree with a path's parent directories, if known. */
function withDirectories(
  tree: DirectoryNode,
  parts: readonly string[],
  known: (depth: number) => TreeNode | undefined,
): DirectoryNode {
  let result = tree;
  for (let depth = 1; depth < parts.length; depth++) {
    const around = known(depth);
    if (around?.kind !== 'directory' || nodeAt(result, parts.slice(0, depth))?.kind === 'directory') continue;
    const { kind, mode, uid, gid } = around;
    result = withNode(result, parts.slice(0, depth), { kind, mode, uid, gid, entries: new Map() });
  }
  return result;
}

/** For a directory kept for its mode, the contents do not matter. */
function isSame(a: TreeNode | undefined, b: TreeNode | undefined): boolean {
  if (a?.kind !== 'directory' || b?.kind !== 'directory') return sameNode(a, b);
  return sameNode({ ...a, entries: new Map() }, { ...b, entries: new Map() });
}

/** Whether a parent of a path is now something new that is not a directory. */
function isBlocked(now: DirectoryNode, before: DirectoryNode, parts: readonly string[]): boolean {
  return parts.some((_, depth) => {
    const around = parts.slice(0, depth);
    const there = nodeAt(now, around);
    return there !== undefined && there.kind !== 'directory' && !sameNode(there, nodeAt(before, around));
  });
}

/** The target with a path as it was before the call; parents that existed only for it are removed too. */
function withBefore(target: DirectoryNode, before: DirectoryNode, parts: readonly string[]): DirectoryNode {
  const was = nodeAt(before, parts);
  const there = nodeAt(target, parts);
  if (was?.kind === 'directory' && there?.kind === 'directory') {
    const { mode, uid, gid } = was;
    return parts.length === 0 ? { ...there, mode, uid, gid } : withNode(target, parts, { ...there, mode, uid, gid });
  }
  for (let depth = 1; depth < parts.length; depth++) {
    const around = parts.slice(0, depth);
    if (nodeAt(before, around)?.kind === 'directory') continue;
    const made = nodeAt(target, around);
    if (made?.kind === 'directory' && made.entries.size === 1 && was === undefined) {
      return withNode(target, around, nodeAt(before, around));
    }
  }
  return withNode(target, parts, was);
}

export function nothingKept(call: string): NothingKeptError {
  return failure('state/nothing-to-undo', {
    message: `call ${call} kept no files: its rollback overwrote and removed nothing`,
    suggestion: 'Choose a call whose checkpoint lists kept files.',
  });
}
