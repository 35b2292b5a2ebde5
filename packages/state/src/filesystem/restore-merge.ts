import type { Reach } from './opened-paths.ts';
import { attributesGiven, type Ownership, ownerLost, sameAsGiven } from './ownership.ts';
import {
  type Attributes,
  attributesOf,
  type DirectoryNode,
  differingPaths,
  joined,
  type OpaqueNode,
  sameAttributes,
  sameContent,
  sameNode,
  type TreeNode,
} from './tree.ts';

/**
 * The tree after undoing the changes between two pictures of it.
 *
 * 1. Only paths that differ between `target` and `left` are undone; changes by others elsewhere stay.
 * 2. A path that differs from `left` now is a conflict, unless it already matches `target`.
 * 3. Opaque directories are never created or removed, with one exception: one that did not exist before is removed. One that
 *    was moved (the same directory elsewhere) is moved back; one that is gone is reported as lost.
 * 4. A directory that could not be read in one of the pictures keeps its content: at most its mode is restored.
 * 5. Entries that we may not change stay, and are reported as lost. Entries restored as ours, because we may not give them
 *    away, are reported too, and count as the originals from then on.
 * 6. Entries known to be somebody else's (`isTheirs`) stay, with their parent directories, and are reported.
 */
export interface RestoreMerge {
  readonly desired: DirectoryNode;
  readonly conflicts: readonly string[];
  /** Entries that cannot be restored, and entries that cannot be removed. */
  readonly lost: readonly string[];
  /** Entries that differ from the target because somebody else changed them. */
  readonly theirs: readonly string[];
}

export interface MergeOptions {
  readonly reach?: Reach;
  readonly isTheirs?: (node: TreeNode, path: string) => boolean;
}

export function mergeRestore(
  trees: { readonly left: DirectoryNode; readonly target: DirectoryNode; readonly now: DirectoryNode },
  { reach, isTheirs = () => false }: MergeOptions = {},
): RestoreMerge {
  const conflicts: string[] = [];
  const lost: string[] = [];
  const theirs: string[] = [];
  let present: ReadonlyMap<string, string> | undefined;
  const presentDirectories = () => {
    present ??= directoryPlaces(trees.now);
    return present;
  };
  const owners: Ownership = reach ?? { canGive: () => true };
  const same = (there: TreeNode | undefined, wanted: TreeNode | undefined) => sameAsGiven(there, wanted, owners);
  const canChange = (path: string, node: TreeNode) => reach === undefined || reach.canChange(path, node);

  const merge = (
    left: TreeNode | undefined,
    target: TreeNode | undefined,
    now: TreeNode | undefined,
    path: string,
  ): TreeNode | undefined => {
    if (sameNode(left, target)) return now;
    if (target?.kind === 'directory' && now?.kind === 'directory') {
      if (left?.kind === 'directory') return mergeDirectory(left, target, now, path);
      if (isUnread(left, now)) return mergeUnread(target, now, path);
    }
    if (target?.kind === 'file' && now?.kind === 'file' && left?.kind === 'special' && sameContent(now, target)) {
      return { ...now, ...attributesOf(target) };
    }
    if (target?.kind === 'opaque' && isSameDirectory(target, now)) return unreadAgain(left, target, now, path);
    if (same(now, target)) return now;
    if (!same(now, left)) {
      conflicts.push(...differingPaths(left, now, path));
      return now;
    }
    return replaced(target, now, path);
  };

  const mergeDirectory = (left: DirectoryNode, target: DirectoryNode, now: DirectoryNode, path: string) => {
    const entries = new Map<string, TreeNode>();
    const fixed = !canChange(path, now);
    for (const name of new Set([...now.entries.keys(), ...target.entries.keys(), ...left.entries.keys()])) {
      const at = joined(path, name);
      const [before, wanted, there] = [left.entries.get(name), target.entries.get(name), now.entries.get(name)];
      const deeper = there?.kind === 'directory' && wanted?.kind === 'directory';
      if (fixed && !deeper && !sameNode(before, wanted) && !sameNode(there, wanted)) lost.push(at);
      const node = fixed && !deeper ? there : merge(before, wanted, there, at);
      if (node !== undefined) entries.set(name, node);
    }
    return { kind: 'directory' as const, ...mergedAttributes(left, target, now, path), entries };
  };

  const mergedAttributes = (left: DirectoryNode, target: DirectoryNode, now: DirectoryNode, path: string) => {
    const undone = !sameAttributes(left, target);
    if (!undone || attributesGiven(now, target, owners)) return attributesOf(now);
    if (!attributesGiven(now, left, owners)) conflicts.push(path === '' ? '.' : path);
    if (reach === undefined || reach.owns(now)) return attributesOf(target);
    lost.push(path === '' ? '.' : path);
    return attributesOf(now);
  };

  /** A directory that could not be read in `left`: its current content cannot be attributed to the call. */
  const mergeUnread = (target: DirectoryNode, now: DirectoryNode, path: string): TreeNode => {
    for (const name of new Set([...now.entries.keys(), ...target.entries.keys()])) {
      conflicts.push(...differingPaths(target.entries.get(name), now.entries.get(name), joined(path, name)));
    }
    return { ...now, ...attributesOf(target) };
  };

  /** A directory that could not be read before: only its mode is known. */
  const unreadAgain = (
    left: TreeNode | undefined,
    target: OpaqueNode,
    now: DirectoryNode | OpaqueNode,
    path: string,
  ): TreeNode => {
    const [was, wanted, there] = [knownAttributes(left), target.attributes, knownAttributes(now)];
    if (wanted === undefined || there === undefined || sameAttributes(there, wanted)) return now;
    if (was !== undefined && !sameAttributes(there, was)) conflicts.push(path);
    if (reach !== undefined && !reach.owns(there)) {
      lost.push(path);
      return now;
    }
    return now.kind === 'directory' ? { ...now, ...wanted } : { ...now, attributes: wanted };
  };

  /** The entry that replaces what the call left. */
  const replaced = (target: TreeNode | undefined, now: TreeNode | undefined, path: string): TreeNode | undefined => {
    if (now !== undefined && now.kind !== 'directory' && isTheirs(now, path)) {
      theirs.push(path);
      return now;
    }
    const onlyMode = now?.kind === 'file' && target?.kind === 'file' && sameContent(now, target);
    if (now !== undefined && (!canMove(now, path) || (onlyMode && reach?.owns(now) === false))) {
      lost.push(path);
      return now;
    }
    const rest = now?.kind === 'directory' ? theirPart(now, path) : undefined;
    if (rest === undefined) return available(target, now, path);
    if (target !== undefined) lost.push(path);
    return rest;
  };

  const canMove = (node: TreeNode, path: string): boolean => {
    if (!canChange(path, node)) return false;
    if (node.kind !== 'directory') return true;
    return [...node.entries].every(
      ([name, child]) => child.kind === 'file' || child.kind === 'link' || canMove(child, joined(path, name)),
    );
  };

  /** The part of a directory to be removed that is somebody else's. Undefined if there is none. */
  const theirPart = (now: DirectoryNode, path: string): DirectoryNode | undefined => {
    const entries = new Map<string, TreeNode>();
    for (const [name, child] of now.entries) {
      const at = joined(path, name);
      const part = child.kind === 'directory' ? theirPart(child, at) : isTheirs(child, at) ? child : undefined;
      if (part === undefined) continue;
      if (part.kind !== 'directory') theirs.push(at);
      entries.set(name, part);
    }
    return entries.size === 0 ? undefined : { ...now, entries };
  };

  /** The achievable part of the target: lost entries are omitted and reported. */
  const available = (target: TreeNode | undefined, now: TreeNode | undefined, path: string): TreeNode | undefined => {
    if ((target?.kind === 'directory' || target?.kind === 'file') && !owners.canGive(target))
      lost.push(ownerLost(path));
    if (target?.kind === 'directory') {
      const entries = new Map<string, TreeNode>();
      for (const [name, child] of target.entries) {
        const old = now?.kind === 'directory' ? now.entries.get(name) : undefined;
        const node = available(child, old, joined(path, name));
        if (node !== undefined) entries.set(name, node);
      }
      return { ...target, entries };
    }
    if (target?.kind === 'special') return unreadFile(target.attributes, now, path);
    if (target?.kind === 'opaque' && !presentDirectories().has(target.identity)) {
      lost.push(path);
      return now;
    }
    return target;
  };

  /** A file that could not be read before: only its mode is known, and its content stays. */
  const unreadFile = (wanted: Attributes | undefined, now: TreeNode | undefined, path: string) => {
    lost.push(path);
    if (wanted === undefined || now?.kind !== 'file' || reach?.owns(now) === false) return now;
    return { ...now, ...wanted };
  };

  const desired = merge(trees.left, trees.target, trees.now, '');
  return { desired: desired?.kind === 'directory' ? desired : trees.now, conflicts, lost, theirs };
}

function isUnread(left: TreeNode | undefined, now: DirectoryNode): boolean {
  return left?.kind === 'opaque' && left.attributes !== undefined && left.identity === now.identity;
}

function isSameDirectory(target: OpaqueNode, now: TreeNode | undefined): now is DirectoryNode | OpaqueNode {
  return (now?.kind === 'directory' || now?.kind === 'opaque') && now.identity === target.identity;
}

function knownAttributes(node: TreeNode | undefined): Attributes | undefined {
  if (node?.kind === 'directory') return attributesOf(node);
  return node?.kind === 'opaque' ? node.attributes : undefined;
}

/** Locations of all possibly opaque directories, by identity, including renamed ones. */
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
