import { isWorkKind, type TreeNode } from '@signalbox/model';
import { nodeStanding } from './words.ts';

/** The reason of a group in which everything that waits continues by itself. */
export const HELD_BELOW = 'held_below';

/** Groups wait as what is in them does: only a group with something that needs a person in it looks like that. */
export function withHeldGroups(nodes: readonly TreeNode[]): readonly TreeNode[] {
  if (!nodes.some(node => isWaitingGroup(node))) return nodes;
  const byId = new Map(nodes.map(node => [node.id, node]));
  const needed = new Set<string>();
  for (const node of nodes) {
    if (isWaitingGroup(node) || nodeStanding(node.status, node.reason).signal !== 'waiting') continue;
    for (let at = node.parent; at !== undefined && !needed.has(at); at = byId.get(at)?.parent) needed.add(at);
  }
  return nodes.map(node => (isWaitingGroup(node) && !needed.has(node.id) ? { ...node, reason: HELD_BELOW } : node));
}

function isWaitingGroup({ kind, status, reason }: TreeNode): boolean {
  return status === 'blocked' && reason === undefined && !isWorkKind(kind);
}
