import type { SessionDetail, SessionNode } from '@signalbox/model';
import type { Standing } from '../story/words.ts';

export type SessionRunDetail = SessionDetail['runs'][number];

/** The status of a place in a guided run: passed, left, or current and what it waits for. */
export function placeStanding(
  node: SessionNode,
  { status, gaps }: Pick<SessionRunDetail, 'status' | 'gaps'>,
): Standing {
  if (!node.isOnPreferredPath) return { signal: 'skipped', word: 'took another branch' };
  const waits = gaps.some(
    ({ nodeId, resolvedBy, reason }) =>
      nodeId === node.nodeId && resolvedBy === undefined && reason.category === 'user_only_dependency',
  );
  if (waits) return { signal: 'waiting', word: 'needs you' };
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
      return { signal: 'working', word: 'current' };
  }
}

/** The place shown first: where the agent is. */
export function placeOfInterest({ nodes, preferredTip }: Pick<SessionRunDetail, 'nodes' | 'preferredTip'>) {
  return nodes.find(({ nodeId }) => nodeId === preferredTip) ?? nodes.at(-1);
}

export function titleOf({ step, nodeKind }: SessionNode): string {
  if (nodeKind === 'checkpoint') return `Checkpoint${step === null ? '' : ` at ${step.title}`}`;
  return step?.title ?? 'End';
}
