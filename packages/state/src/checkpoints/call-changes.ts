import { partsOf } from '../filesystem/path-name.ts';
import { type DirectoryNode, joined, sameNode, type TreeNode, withNode } from '../filesystem/tree.ts';

/** What is at one path, without its descendants. */
export type Leaf = Exclude<TreeNode, DirectoryNode> | Omit<DirectoryNode, 'entries' | 'identity' | 'partial'>;

/** The file changes of calls: each changed path, before the first and after the last of them. */
export type CallChanges = ReadonlyMap<string, { readonly before?: Leaf; readonly after?: Leaf }>;

/** The changes of one call, from the pictures before and after it. Either may contain only the changed paths. */
export function changesBetween(before: DirectoryNode, after: DirectoryNode): CallChanges {
  const changes = new Map<string, { before?: Leaf; after?: Leaf }>();
  compare(before, after, '', changes);
  return changes;
}

/**
 * The changes of consecutive calls, oldest first. If a call did not find what the previous one left, somebody else made a
 * change in between: that is a conflict.
 */
export function joinedChanges(calls: readonly CallChanges[]): {
  readonly changes: CallChanges;
  readonly conflicts: readonly string[];
} {
  const changes = new Map<string, { before?: Leaf; after?: Leaf }>();
  const conflicts: string[] = [];
  for (const call of calls) {
    for (const [path, change] of call) {
      const known = changes.get(path);
      if (known !== undefined && !mayBeSame(known.after, change.before)) conflicts.push(path);
      changes.set(path, pair(known === undefined ? change.before : known.before, change.after));
    }
  }
  for (const [path, { before, after }] of changes) if (sameLeaf(before, after)) changes.delete(path);
  return { changes, conflicts };
}

/** A tree as it was before the calls, whatever happened to those paths since. */
export function treeBefore(tree: DirectoryNode, changes: CallChanges): DirectoryNode {
  const paths = [...changes.keys()].sort((a, b) => depthOf(a) - depthOf(b));
  let result = tree;
  for (const path of paths.toReversed()) {
    if (changes.get(path)?.before === undefined) result = withNode(result, partsOf(path), undefined);
  }
  for (const path of paths) {
    const leaf = changes.get(path)?.before;
    if (leaf === undefined) continue;
    const there = path === '' ? result : nodeOf(result, path);
    const entries = there?.kind === 'directory' ? there.entries : new Map<string, TreeNode>();
    result = withNode(result, partsOf(path), leaf.kind === 'directory' ? { ...leaf, entries } : leaf);
  }
  return result;
}

function compare(
  before: TreeNode | undefined,
  after: TreeNode | undefined,
  path: string,
  changes: Map<string, { before?: Leaf; after?: Leaf }>,
): void {
  if (sameNode(before, after)) return;
  const [own, other] = [leafOf(before), leafOf(after)];
  if (!sameLeaf(own, other)) changes.set(path, pair(own, other));
  for (const name of new Set([...namesOf(before), ...namesOf(after)])) {
    compare(entryOf(before, name), entryOf(after, name), joined(path, name), changes);
  }
}

function leafOf(node: TreeNode | undefined): Leaf | undefined {
  if (node?.kind !== 'directory') return node;
  const { kind, mode, uid, gid } = node;
  return { kind, mode, uid, gid };
}

export function sameLeaf(a: Leaf | undefined, b: Leaf | undefined): boolean {
  if (a?.kind !== 'directory' || b?.kind !== 'directory') return sameNode(asNode(a), asNode(b));
  return a.mode === b.mode && a.uid === b.uid && a.gid === b.gid;
}

/** Whether a call may have found what the previous one left: an unread file is compared by size and mode. */
function mayBeSame(left: Leaf | undefined, found: Leaf | undefined): boolean {
  const isUnread = (leaf: Leaf | undefined) => leaf?.kind === 'file' && leaf.digest === null;
  if (left?.kind !== 'file' || found?.kind !== 'file' || !(isUnread(left) || isUnread(found)))
    return sameLeaf(left, found);
  return left.size === found.size && left.mode === found.mode;
}

function asNode(leaf: Leaf | undefined): TreeNode | undefined {
  return leaf?.kind === 'directory' ? { ...leaf, entries: new Map() } : leaf;
}

export function pair(before: Leaf | undefined, after: Leaf | undefined): { before?: Leaf; after?: Leaf } {
  return { ...(before && { before }), ...(after && { after }) };
}

function namesOf(node: TreeNode | undefined): Iterable<string> {
  return node?.kind === 'directory' ? node.entries.keys() : [];
}

function entryOf(node: TreeNode | undefined, name: string): TreeNode | undefined {
  return node?.kind === 'directory' ? node.entries.get(name) : undefined;
}

function nodeOf(tree: DirectoryNode, path: string): TreeNode | undefined {
  return partsOf(path).reduce<TreeNode | undefined>((node, part) => entryOf(node, part), tree);
}

function depthOf(path: string): number {
  return path === '' ? 0 : path.split('/').length;
}

/** Paths that did not exist before: undoing the changes removes them. */
export function removedIn(changes: CallChanges, paths: readonly string[]): readonly string[] {
  return paths.filter(path => changes.has(path) && changes.get(path)?.before === undefined);
}
