import type { SessionDetail, SessionNode } from '@signalbox/model';
import type { Standing } from '../story/words.ts';

export type SessionRunDetail = SessionDetail['runs'][number];

/** What a place in the graph of a guided run is: passed, left, or where the agent is now and what it waits for there. */
export function placeStanding(
  node: SessionNode,
  { status, gaps }: Pick<SessionRunDetail, 'status' | 'gaps'>,
): Standing {
  if (!node.isOnPreferredPath) return { signal: 'skipped', word: 'left for another way' };
  const waits = gaps.some(
    ({ nodeId, resolvedBy, reason }) =>
      nodeId === node.nodeId && resolvedBy === undefined && reason.category === 'user_only_dependency',
  );
  if (waits) return { signal: 'waiting', word: 'waits for you' };
  if (node.blockers !== undefined && node.isLeaf) return { signal: 'held', word: 'blocked' };
  if (node.nodeKind === 'checkpoint') return { signal: 'next', word: 'a checkpoint' };
  if (!node.isLeaf) return { signal: 'done', word: 'passed' };
  switch (status) {
    case 'complete':
    case 'complete_with_gaps':
      return { signal: 'done', word: 'complete' };
    case 'blocked':
      return { signal: 'held', word: 'blocked' };
    case 'in_progress':
      return { signal: 'working', word: 'here now' };
  }
}

/** What is shown first: where the agent is. */
export function placeOfInterest({ nodes, preferredTip }: Pick<SessionRunDetail, 'nodes' | 'preferredTip'>) {
  return nodes.find(({ nodeId }) => nodeId === preferredTip) ?? nodes.at(-1);
}

export function titleOf({ step, nodeKind }: SessionNode): string {
  if (nodeKind === 'checkpoint') return `Checkpoint${step === null ? '' : ` at ${step.title}`}`;
  return step?.title ?? 'The end';
}
