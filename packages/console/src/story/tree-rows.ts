import { isWorkKind, nodeKindFacts, type TreeNode } from '@signalbox/model';
import { reasonWords } from './reason-words.ts';
import { nodeStanding } from './words.ts';

/** A node on its line of the tree. */
export interface TreeRow {
  readonly node: TreeNode;
  readonly depth: number;
  readonly hasChildren: boolean;
  readonly isOpen: boolean;
  /** The work below it: how much there is, and how much of it ended well. Absent without children. */
  readonly work?: WorkCount | undefined;
  /** The turns that a loop took, or the loop around a node whose last round was not needed. Absent while the loop goes on. */
  readonly turns?: number | undefined;
}

interface WorkCount {
  readonly total: number;
  readonly done: number;
  /** Whether all of it is over, and nothing failed. */
  readonly isOver: boolean;
}

/** Everything open, whatever is over. */
export const allOpen = { get: () => true } as const;

/** Groups with fewer pieces of work stay open when it is over. */
const FOLDS_AT = 8;

/**
 * The visible lines, top to bottom: children of closed nodes are hidden. A group whose work is over is closed unless a person opened it;
 * `chosen` has what people opened and closed.
 */
export function treeRows(
  nodes: Iterable<TreeNode>,
  chosen: Pick<ReadonlyMap<string, boolean>, 'get'>,
): readonly TreeRow[] {
  const children = Map.groupBy(nodes, node => node.parent);
  const counts = new Map<string, WorkCount>();
  const count = (node: TreeNode): WorkCount => {
    const parts = (children.get(node.id) ?? []).map(count);
    const own = isWorkKind(node.kind) && node.status !== 'skipped' ? 1 : 0;
    const isDone = node.status === 'succeeded';
    const isOver = isDone || node.status === 'skipped';
    const sum = {
      total: parts.reduce((all, { total }) => all + total, own),
      done: parts.reduce((all, { done }) => all + done, own === 1 && isDone ? 1 : 0),
      isOver: isOver && parts.every(part => part.isOver),
    };
    counts.set(node.id, sum);
    return sum;
  };
  for (const node of children.get(undefined) ?? []) count(node);
  const rows: TreeRow[] = [];
  const visit = (parent: string | undefined, depth: number, around?: number): void => {
    for (const node of (children.get(parent) ?? []).toSorted((a, b) => a.index - b.index)) {
      const hasChildren = children.has(node.id);
      const work = counts.get(node.id);
      const isFolded = depth > 0 && work?.isOver === true && work.total >= FOLDS_AT;
      const isOpen = chosen.get(node.id) ?? !isFolded;
      const turns = turnsOf(node, children.get(node.id) ?? []) ?? (node.status === 'skipped' ? around : undefined);
      rows.push({
        node,
        depth,
        hasChildren,
        isOpen,
        ...(hasChildren && { work }),
        ...(turns !== undefined && { turns }),
      });
      if (isOpen) visit(node.id, depth + 1, turns ?? around);
    }
  };
  visit(undefined, 0);
  return rows;
}

/** How often a finished loop went round: its last round may have found that there was nothing left to do. */
function turnsOf({ kind, status, iteration }: TreeNode, parts: readonly TreeNode[]): number | undefined {
  if (nodeKindFacts(kind)?.role !== 'loop' || status !== 'succeeded') return undefined;
  const hasRun = parts.some(part => part.status !== 'skipped' && part.status !== 'idle');
  return hasRun ? iteration + 1 : iteration;
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

/** Where a person wants to look first: what failed, else what needs them, else what is under way. */
export function firstToSee(nodes: readonly TreeNode[]): string | undefined {
  const work = nodes.filter(({ kind }) => isWorkKind(kind));
  for (const wanted of ['failed', 'blocked', 'running'] as const) {
    const found = work.find(({ status }) => status === wanted);
    if (found !== undefined) return found.id;
  }
  return undefined;
}

/** Upcoming work: scheduled nodes, and the first node of each sequence that has not started. */
export function nextWork(nodes: readonly TreeNode[], limit: number): readonly TreeNode[] {
  const work = nodes.filter(({ kind }) => isWorkKind(kind));
  const scheduled = work.filter(({ status }) => status === 'scheduled');
  const idle = work.filter(({ status }) => status === 'idle');
  return [...scheduled, ...idle].slice(0, limit);
}
