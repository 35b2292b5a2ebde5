import { isWorkKind, type TreeNode } from '@signalbox/model';
import { reasonWords } from './reason-words.ts';
import { nodeStanding } from './words.ts';

/** A node on its line of the tree. */
export interface TreeRow {
  readonly node: TreeNode;
  readonly depth: number;
  readonly hasChildren: boolean;
  readonly isOpen: boolean;
}

/** The visible lines, top to bottom: children of closed nodes are hidden. */
export function treeRows(nodes: Iterable<TreeNode>, closed: ReadonlySet<string>): readonly TreeRow[] {
  const children = Map.groupBy(nodes, node => node.parent);
  const rows: TreeRow[] = [];
  const visit = (parent: string | undefined, depth: number): void => {
    for (const node of (children.get(parent) ?? []).toSorted((a, b) => a.index - b.index)) {
      const hasChildren = children.has(node.id);
      const isOpen = !closed.has(node.id);
      rows.push({ node, depth, hasChildren, isOpen });
      if (isOpen) visit(node.id, depth + 1);
    }
  };
  visit(undefined, 0);
  return rows;
}

/** The nodes that match all words in their label, kind, status, reason or id, and their surroundings. */
export function matching(nodes: readonly TreeNode[], query: string): readonly TreeNode[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return nodes;
  const byId = new Map(nodes.map(node => [node.id, node]));
  const kept = new Set<string>();
  for (const node of nodes) {
    const { label, kind, status, reason, id } = node;
    const why = reason === undefined ? '' : `${reason} ${reasonWords(reason)}`;
    const text = [label, kind, status, nodeStanding(status).word, why, id].join(' ').toLowerCase();
    if (!words.every(word => text.includes(word))) continue;
    for (let at: TreeNode | undefined = node; at !== undefined && !kept.has(at.id); ) {
      kept.add(at.id);
      at = at.parent === undefined ? undefined : byId.get(at.parent);
    }
  }
  return nodes.filter(({ id }) => kept.has(id));
}

/** Upcoming work: scheduled nodes, and the first node of each sequence that has not started. */
export function nextWork(nodes: readonly TreeNode[], limit: number): readonly TreeNode[] {
  const work = nodes.filter(({ kind }) => isWorkKind(kind));
  const scheduled = work.filter(({ status }) => status === 'scheduled');
  const idle = work.filter(({ status }) => status === 'idle');
  return [...scheduled, ...idle].slice(0, limit);
}
