import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodesOf } from '../../test/elements.ts';
import { node, phase, plan, step, task } from '../../test/trees.ts';
import type { PlanNode } from '../nodes/plan-node.ts';
import { type NodeRow, reconcile } from './reconcile.ts';

const ids = (nodes: readonly PlanNode[]) => nodes.map(({ id }) => id);

describe('reconcile', () => {
  it('[P26] mounts everything of a first tree', () => {
    const { mounted, unmounted, rows } = reconcile(undefined, plan(phase('p', task('a'))));
    expect([ids(mounted), ids(unmounted)]).toEqual([['root', 'p', 'a'], []]);
    expect([...rows]).toEqual([
      ['root', { kind: 'plan', index: 0, data: { name: 'test' } }],
      ['p', { kind: 'phase', parent: 'root', index: 0, data: { name: 'p' } }],
      ['a', { kind: 'task', parent: 'p', index: 0, handlers: [], data: { retries: 3 } }],
    ]);
  });

  it('[P26] reports added, removed and continuing nodes, and sorts tasks by it', () => {
    const before = plan(phase('p', task('a'), task('b'), task('c')));
    const after = plan(phase('p', task('a'), task('c'), task('d')));
    const tasks = [
      { task: 'ta', node: 'a', ended: false },
      { task: 'tb', node: 'b', ended: false },
      { task: 'tb2', node: 'b', ended: true },
      { task: 'tc', node: 'c', ended: true },
    ];
    const { rows, mounted, unmounted, ...sorted } = reconcile(before, after, tasks);
    expect([ids(mounted), ids(unmounted)]).toEqual([['d'], ['b']]);
    expect(sorted).toEqual({ stillRunning: ['ta'], toCancel: ['tb'], staleResults: ['tb2'] });
    expect([...rows.keys()]).toEqual(['c', 'd']);
  });

  it('[P26] a node that moves is neither mounted nor unmounted; one of another kind is both', () => {
    const moved = reconcile(plan(step('s', task('a')), step('t')), plan(step('s'), step('t', task('a'))));
    expect([ids(moved.mounted), ids(moved.unmounted), moved.rows.get('a')?.parent]).toEqual([[], [], 't']);
    const replaced = reconcile(plan(task('a')), plan(node('claude', 'a')));
    expect([ids(replaced.mounted), ids(replaced.unmounted)]).toEqual([['a'], ['a']]);
  });

  it('[P26] writes rows only for differences', () => {
    const still = step('s', task('a'), task('b'));
    expect([...reconcile(plan(still, task('x', 1)), plan(still, task('x', 2))).rows.keys()]).toEqual(['x']);
    expect(reconcile(plan(still, task('x', 1)), plan(still, task('x', 1))).rows.size).toBe(0);
  });

  it('[P26] the rows of all steps together are the rows of the last tree', () => {
    const tree = fc
      .uniqueArray(fc.tuple(fc.nat({ max: 12 }), fc.nat({ max: 3 })), { selector: ([id]) => id, maxLength: 10 })
      .map(list =>
        plan(
          ...[0, 1, 2].map(group =>
            step(`s${group}`, ...list.filter(([, at]) => at === group).map(([id, at]) => task(`t${id}`, at))),
          ),
        ),
      );
    fc.assert(
      fc.property(fc.array(tree, { minLength: 1, maxLength: 6 }), sequence => {
        const rows = new Map<string, NodeRow>();
        let before: PlanNode | undefined;
        for (const after of sequence) {
          const step = reconcile(before, after);
          for (const gone of step.unmounted) rows.delete(gone.id);
          for (const [id, row] of step.rows) rows.set(id, row);
          before = after;
        }
        const expected = reconcile(undefined, sequence.at(-1) as PlanNode).rows;
        expect(new Map([...rows].sort())).toEqual(new Map([...expected].sort()));
        expect(rows.size).toBe(nodesOf(sequence.at(-1) as PlanNode).length);
      }),
    );
  });
});
