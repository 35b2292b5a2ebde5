import type { TreeNode } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { matching, nextWork } from './tree-rows.ts';

const node = (id: string, kind: string, status: string, parent?: string) =>
  ({ id, kind, label: id, status, index: 0, ...(parent !== undefined && { parent }) }) as unknown as TreeNode;
const nodes = [
  node('root', 'plan', 'running'),
  node('build', 'phase', 'succeeded', 'root'),
  node('compile', 'task', 'succeeded', 'build'),
  node('ship', 'phase', 'idle', 'root'),
  node('publish', 'task', 'idle', 'ship'),
  node('tell', 'claude', 'scheduled', 'ship'),
];
const ids = (found: readonly TreeNode[]) => found.map(({ id }) => id);

describe('the tree', () => {
  it('[K21] is filtered to nodes that match all words, and their surroundings', () => {
    expect(ids(matching(nodes, 'TASK idle'))).toEqual(['root', 'ship', 'publish']);
    expect(ids(matching(nodes, 'claude'))).toEqual(['root', 'ship', 'tell']);
    expect(matching(nodes, ' ')).toBe(nodes);
    expect(matching(nodes, 'nobody')).toEqual([]);
  });

  it('[K19] shows what comes next: scheduled work before work that has not started', () => {
    expect(ids(nextWork(nodes, 5))).toEqual(['tell', 'publish']);
    expect(ids(nextWork(nodes, 1))).toEqual(['tell']);
  });
});
