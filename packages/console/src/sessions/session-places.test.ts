import type { SessionNode } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { placeOfInterest, placeStanding, type SessionRunDetail } from './session-places.ts';

const node = (fields: object) => ({ nodeId: 'a', isOnPreferredPath: true, isLeaf: true, ...fields }) as SessionNode;
const run = (status: string, gaps: readonly object[] = []) => ({ status, gaps }) as unknown as SessionRunDetail;
const gap = { nodeId: 'a', reason: { category: 'user_only_dependency' } };

describe('a place of a guided run', () => {
  it('[K59] has one status: passed, left, a checkpoint, blocked, complete, waiting, or current', () => {
    const blockers = [{ code: 'x', message: 'y' }];
    const places = [
      placeStanding(node({ isLeaf: false }), run('in_progress')),
      placeStanding(node({ isOnPreferredPath: false }), run('in_progress', [gap])),
      placeStanding(node({ nodeKind: 'checkpoint' }), run('in_progress')),
      placeStanding(node({ blockers }), run('in_progress')),
      placeStanding(node({ blockers, isLeaf: false }), run('in_progress')),
      placeStanding(node({}), run('blocked')),
      placeStanding(node({}), run('complete_with_gaps')),
      placeStanding(node({}), run('blocked', [gap])),
      placeStanding(node({}), run('in_progress', [{ ...gap, resolvedBy: 'b' }])),
    ];
    const signals = ['done', 'skipped', 'next', 'held', 'done', 'held', 'done', 'waiting', 'working'];
    expect(places.map(({ signal }) => signal)).toEqual(signals);
  });

  it('[K59] is shown first where the agent is', () => {
    const nodes = [node({ nodeId: 'a' }), node({ nodeId: 'b' })];
    const shown = (preferredTip: string | undefined) =>
      placeOfInterest({ nodes, preferredTip } as unknown as SessionRunDetail);
    expect([shown('a')?.nodeId, shown(undefined)?.nodeId, shown('z')?.nodeId]).toEqual(['a', 'b', 'b']);
  });
});
