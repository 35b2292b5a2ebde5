import type { TreeNode } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { HELD_BELOW, withHeldGroups } from './held-groups.ts';
import { nodeStanding } from './words.ts';

const node = (id: string, more: object) =>
  ({ id, kind: 'phase', label: id, index: 0, status: 'blocked', iteration: 0, ...more }) as TreeNode;

describe('a group that waits', () => {
  const root = node('root', { kind: 'plan' });
  const busy = node('busy', { parent: 'root' });
  const asking = node('asking', { parent: 'root' });
  const agent = node('agent', { kind: 'agent', parent: 'busy', reason: 'rate_limit' });
  const person = node('person', { kind: 'human', parent: 'asking' });

  it('[K188] needs a person only if something in it does', () => {
    expect(withHeldGroups([root, busy, asking, agent, person])).toEqual([
      root,
      { ...busy, reason: HELD_BELOW },
      asking,
      agent,
      person,
    ]);
    expect(withHeldGroups([root, busy, agent]).map(({ reason }) => reason)).toEqual([
      HELD_BELOW,
      HELD_BELOW,
      'rate_limit',
    ]);
    expect(nodeStanding('blocked', HELD_BELOW)).toEqual({ signal: 'held', word: 'waits' });
  });

  it('[K188] leaves a plan in which nothing waits as it is', () => {
    const plan = [node('root', { kind: 'plan', status: 'running' })];
    expect(withHeldGroups(plan)).toBe(plan);
  });
});
