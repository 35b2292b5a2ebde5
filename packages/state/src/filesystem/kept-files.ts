import type { RestoreStep } from './restore-plan.ts';
import { type DirectoryNode, joined, nodeAt, sameAttributes, sameNode, type TreeNode, withNode } from './tree.ts';

/**
 * The part of a tree that turning it into another one discards: files, links and directories that change or disappear, each
 * with its parent directories. Undefined if nothing is discarded.
 */
export function discardedTree(now: DirectoryNode, desired: DirectoryNode): DirectoryNode | undefined {
  const entries = new Map<string, TreeNode>();
  for (const [name, node] of now.entries) {
    const wanted = desired.entries.get(name);
    if (sameNode(node, wanted)) continue;
    const part = node.kind === 'directory' && wanted?.kind === 'directory' ? discardedTree(node, wanted) : node;
    if (part !== undefined) entries.set(name, part);
  }
  return entries.size === 0 && sameAttributes(now, desired) ? undefined : { ...now, entries };
}

/** The paths of a kept tree: files, links, empty directories, and directories whose mode differs. */
export function keptPaths(kept: DirectoryNode, desired: TreeNode | undefined, at = ''): readonly string[] {
  const there = desired?.kind === 'directory' ? desired : undefined;
  const paths: string[] = [];
  if (there !== undefined ? !sameAttributes(kept, there) : kept.entries.size === 0) paths.push(at === '' ? '.' : at);
  for (const [name, node] of kept.entries) {
    const path = joined(at, name);
    if (node.kind === 'directory') paths.push(...keptPaths(node, there?.entries.get(name), path));
    else paths.push(path);
  }
  return paths;
}

/** A tree overlaid with the kept part of another one. */
export function overlaid(base: DirectoryNode, kept: DirectoryNode): DirectoryNode {
  const entries = new Map(base.entries);
  for (const [name, node] of kept.entries) {
    const there = base.entries.get(name);
    entries.set(name, node.kind === 'directory' && there?.kind === 'directory' ? overlaid(there, node) : node);
  }
  const { mode, uid, gid } = kept;
  return { ...base, mode, uid, gid, entries };
}

/**
 * Adds writes that happened after entries were kept and before they were moved away: returns the updated kept tree, or
 * undefined if there were none. `look` reads what a step moved away.
 */
export async function withLateChanges(
  kept: DirectoryNode,
  steps: readonly RestoreStep[],
  look: (as: number, before: TreeNode | undefined) => Promise<TreeNode | undefined>,
): Promise<DirectoryNode | undefined> {
  let late: DirectoryNode | undefined;
  for (const step of steps) {
    if (step.op !== 'aside') continue;
    const parts = step.path.split('/');
    const before = nodeAt(kept, parts);
    // An entry that was not kept is moved, not discarded.
    if (before === undefined) continue;
    const now = await look(step.as, before);
    if (now !== undefined && !sameContents(before, now)) late = withNode(late ?? kept, parts, now);
  }
  return late;
}

/** Whether one contains everything in the other. Modes do not count: a restore may change them. */
function sameContents(a: TreeNode | undefined, b: TreeNode | undefined): boolean {
  if (a?.kind === 'directory' && b?.kind === 'directory') {
    return (
      a.entries.size === b.entries.size &&
      [...a.entries].every(([name, node]) => sameContents(node, b.entries.get(name)))
    );
  }
  if (a?.kind === 'file' && b?.kind === 'file') return a.digest === b.digest;
  return a !== undefined && b !== undefined && a.kind === b.kind && (a.kind !== 'link' || sameNode(a, b));
}
