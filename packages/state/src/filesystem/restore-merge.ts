import { type DirectoryNode, differingPaths, joined, sameAttributes, sameNode, type TreeNode } from './tree.ts';

/**
 * What a tree should be after undoing what was done between two pictures of it.
 *
 * 1. Only paths that differ between `target` and `left` are undone; whatever others changed elsewhere stays.
 * 2. Where such a path is no longer as it was left, it is a conflict, unless it is as it should be already.
 * 3. Opaque directories are never made or removed, with one exception: one that was not there before goes away. One that
 *    was moved (the same directory elsewhere) is wanted back; one that is gone is lost, and said so.
 */
export interface RestoreMerge {
  readonly desired: DirectoryNode;
  readonly conflicts: readonly string[];
  /** What should be there and cannot be brought back. */
  readonly lost: readonly string[];
}

export function mergeRestore(trees: {
  readonly left: DirectoryNode;
  readonly target: DirectoryNode;
  readonly now: DirectoryNode;
}): RestoreMerge {
  const conflicts: string[] = [];
  const lost: string[] = [];
  let present: ReadonlyMap<string, string> | undefined;
  const presentDirectories = () => {
    present ??= directoryPlaces(trees.now);
    return present;
  };

  const merge = (
    left: TreeNode | undefined,
    target: TreeNode | undefined,
    now: TreeNode | undefined,
    path: string,
  ): TreeNode | undefined => {
    if (sameNode(left, target)) return now;
    if (target?.kind === 'directory' && now?.kind === 'directory' && left?.kind === 'directory') {
      return mergeDirectory(left, target, now, path);
    }
    if (sameNode(now, target)) return now;
    if (!sameNode(now, left)) {
      conflicts.push(...differingPaths(left, now, path));
      return now;
    }
    return available(target, now, path);
  };

  const mergeDirectory = (left: DirectoryNode, target: DirectoryNode, now: DirectoryNode, path: string) => {
    const entries = new Map<string, TreeNode>();
    for (const name of new Set([...now.entries.keys(), ...target.entries.keys(), ...left.entries.keys()])) {
      const at = joined(path, name);
      const node = merge(left.entries.get(name), target.entries.get(name), now.entries.get(name), at);
      if (node !== undefined) entries.set(name, node);
    }
    const undone = !sameAttributes(left, target);
    if (undone && !sameAttributes(now, left) && !sameAttributes(now, target)) conflicts.push(path === '' ? '.' : path);
    const { mode, uid, gid } = undone ? target : now;
    return { kind: 'directory' as const, mode, uid, gid, entries };
  };

  /** The target as far as it can be had: what is lost is left out and named. */
  const available = (target: TreeNode | undefined, now: TreeNode | undefined, path: string): TreeNode | undefined => {
    if (target?.kind === 'directory') {
      const entries = new Map<string, TreeNode>();
      for (const [name, child] of target.entries) {
        const old = now?.kind === 'directory' ? now.entries.get(name) : undefined;
        const node = available(child, old, joined(path, name));
        if (node !== undefined) entries.set(name, node);
      }
      return { ...target, entries };
    }
    if (target?.kind === 'special' || (target?.kind === 'opaque' && !presentDirectories().has(target.identity))) {
      lost.push(path);
      return now;
    }
    return target;
  };

  const desired = merge(trees.left, trees.target, trees.now, '');
  return { desired: desired?.kind === 'directory' ? desired : trees.now, conflicts, lost };
}

/** Where every directory that could be an opaque one is, by identity: also those that were renamed to something else. */
export function directoryPlaces(root: DirectoryNode): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  eachDirectory(root, '', (identity, path) => found.set(identity, path));
  return found;
}

export function eachDirectory(root: DirectoryNode, at: string, visit: (identity: string, path: string) => void): void {
  for (const [name, node] of root.entries) {
    if (node.kind === 'opaque') visit(node.identity, joined(at, name));
    else if (node.kind === 'directory') {
      if (node.identity !== undefined) visit(node.identity, joined(at, name));
      eachDirectory(node, joined(at, name), visit);
    }
  }
}
