import type { TreeNode } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { allOpen, firstToSee, matching, nextWork, treeRows } from './tree-rows.ts';

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

  it('[K181] folds a group whose work is over to its count, unless a person opened it', () => {
    const many = (status: (index: number) => string) => [
      node('root', 'plan', 'running'),
      node('group', 'parallel', 'succeeded', 'root'),
      ...Array.from({ length: 10 }, (_, index) => node(`work-${index}`, 'task', status(index), 'group')),
    ];
    const shown = (given: readonly TreeNode[], chosen: Pick<ReadonlyMap<string, boolean>, 'get'> = new Map()) =>
      treeRows(given, chosen).map(({ node: { id }, work }) =>
        work === undefined ? id : `${id} ${work.done}/${work.total}`,
      );
    const over = many(() => 'succeeded');
    expect(shown(over)).toEqual(['root 10/10', 'group 10/10']);
    expect(shown(over, new Map([['group', true]]))).toHaveLength(12);
    expect(shown(over, allOpen)).toHaveLength(12);
    expect(shown(many(index => (index === 3 ? 'failed' : 'succeeded')))).toHaveLength(12);
    expect(shown(many(index => (index === 3 ? 'running' : 'succeeded')))[1]).toBe('group 9/10');
    expect(shown(over.slice(0, 7))).toHaveLength(7);
  });

  it('[K181] counts the turns of a loop that is over, also where its last round was not needed', () => {
    const loop = (status: string, iteration: number) =>
      [
        node('root', 'plan', 'succeeded'),
        { ...node('loop', 'while', 'succeeded', 'root'), iteration },
        { ...node('step', 'task', status, 'loop'), iteration },
      ] as readonly TreeNode[];
    const turns = (given: readonly TreeNode[]) => treeRows(given, allOpen).map(row => row.turns);
    expect(turns(loop('succeeded', 5))).toEqual([undefined, 6, undefined]);
    expect(turns(loop('skipped', 2))).toEqual([undefined, 2, 2]);
  });

  it('[K181] opens on what failed, else on what waits, else on what works', () => {
    const of = (...statuses: readonly string[]) => statuses.map((status, index) => node(`n${index}`, 'task', status));
    expect(firstToSee(of('succeeded', 'running', 'failed'))).toBe('n2');
    expect(firstToSee(of('running', 'blocked'))).toBe('n1');
    expect(firstToSee(of('succeeded', 'running'))).toBe('n1');
    expect(firstToSee(of('succeeded'))).toBeUndefined();
  });
});
