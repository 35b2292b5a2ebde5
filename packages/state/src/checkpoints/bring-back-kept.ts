import { type Digest, type ErrorEnvelope, failure, ok, type Result } from '@signalbox/model';
import type { Filesystem, FilesystemSnapshot } from '../filesystem/filesystem.ts';
import { overlaid } from '../filesystem/kept-files.ts';
import type { LockError, PathLocks } from '../filesystem/path-locks.ts';
import { pathParts } from '../filesystem/path-name.ts';
import { type DirectoryNode, nodeAt, sameNode, type TreeNode, withNode } from '../filesystem/tree.ts';
import type { StateError } from '../snapshots/snapshot-error.ts';
import type { KeptFiles } from '../snapshots/snapshotable.ts';
import { restoreAll } from '../snapshots/two-phase-restore.ts';

export type NothingKeptError = ErrorEnvelope<'state/nothing-to-undo'>;

/** A call whose rollback kept something: the files before it, and what was kept. */
export interface KeptCall {
  readonly id: string;
  readonly before: Digest;
  readonly kept: KeptFiles;
}

/** What bringing back kept files changes, or would change. */
export interface KeptBroughtBack {
  readonly paths: readonly string[];
  /** Kept paths that were changed since the rollback, and stay as they are. */
  readonly conflicts: readonly string[];
  readonly lost: readonly string[];
}

/**
 * Brings back what the rollback of a call overwrote or removed. A path that is no longer as the rollback left it stays, and
 * is told. With `dryRun` nothing is changed.
 */
export async function bringBackKept(options: {
  readonly files: Filesystem;
  readonly call: KeptCall;
  readonly locks: PathLocks;
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
    const { target, paths, conflicts } = planned(call.kept, trees);
    const id = `kept:${call.id}`;
    const stage = () => files.stage({ tree: target }, { id, left: { snapshot: before.value } });
    if (dryRun) {
      const staged = await stage();
      if (!staged.ok) return staged;
      await staged.value.discard();
      return ok({ paths, conflicts, lost: staged.value.lost });
    }
    const restored = await restoreAll([stage]);
    return restored.ok ? ok({ paths, conflicts, lost: restored.value.lost }) : restored;
  } finally {
    lock.value();
  }
}

interface Trees {
  readonly before: FilesystemSnapshot;
  readonly kept: FilesystemSnapshot;
  readonly now: FilesystemSnapshot;
}

/** The tree before the call with every kept path that can be put back. */
function planned(kept: KeptFiles, trees: Trees) {
  const paths: string[] = [];
  const conflicts: string[] = [];
  let target = overlaid(trees.before.tree, trees.kept.tree);
  for (const path of kept.paths) {
    const parts = partsOf(path);
    const [before, wanted, now] = [trees.before, { tree: target }, trees.now].map(({ tree }) => nodeAt(tree, parts));
    if (isSame(now, wanted)) continue;
    if (isSame(now, before) && !isBlocked(trees.now.tree, trees.before.tree, parts)) paths.push(path);
    else {
      conflicts.push(path);
      target = withBefore(target, trees.before.tree, parts);
    }
  }
  return { target, paths, conflicts };
}

/** For a directory that was kept for its mode, what is in it does not count. */
function isSame(a: TreeNode | undefined, b: TreeNode | undefined): boolean {
  if (a?.kind !== 'directory' || b?.kind !== 'directory') return sameNode(a, b);
  return sameNode({ ...a, entries: new Map() }, { ...b, entries: new Map() });
}

/** Whether something that is no directory, and was not there before, is on the way to a path. */
function isBlocked(now: DirectoryNode, before: DirectoryNode, parts: readonly string[]): boolean {
  return parts.some((_, depth) => {
    const around = parts.slice(0, depth);
    const there = nodeAt(now, around);
    return there !== undefined && there.kind !== 'directory' && !sameNode(there, nodeAt(before, around));
  });
}

/** The target with a path as it was before the call; what was there only on the way to it goes with it. */
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

function partsOf(path: string): readonly string[] {
  const parts = pathParts(path);
  return parts.ok ? parts.value : [];
}

export function nothingKept(call: string): NothingKeptError {
  return failure('state/nothing-to-undo', {
    message: `nothing was kept of call ${call}: its rollback overwrote and removed nothing`,
    suggestion: 'Choose a call whose checkpoint lists kept files.',
  });
}
