import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodesOf } from '../../test/elements.ts';
import { trees } from '../../test/tree-arbitrary.ts';
import { type Walk, walkOf } from '../../test/walk.ts';
import type { PlanNode } from '../nodes/plan-node.ts';
import { createStructure } from './structure.ts';

/** Which of the nodes at hand moves, and how: picks are taken modulo what there is. */
const picks = fc.infiniteStream(fc.nat({ max: 1000 }));

/** Starts and ends nodes as the picks say until nothing moves, and forgets the first few ends if told so. */
function play(
  tree: PlanNode,
  choose: Iterator<number>,
  fails: boolean,
  check: (walk: Walk) => void,
  resets = 0,
): readonly string[] {
  const walk = walkOf(tree);
  const running: string[] = [];
  const log: string[] = [];
  const ended = () =>
    [...walk.records].filter(([id, { status }]) => status !== 'running' && !walk.records.get(id)?.loop);
  for (let moves = 0; moves < 5000; moves++) {
    const ready = walk.ready();
    check(walk);
    const options = [...ready.map(id => `start ${id}`), ...running.map(id => `end ${id}`)];
    if (options.length === 0) return log;
    const move = options[choose.next().value % options.length] ?? '';
    const [verb = '', id = ''] = move.split(' ');
    if (verb === 'start') {
      walk.set(id, 'running');
      running.push(id);
    } else {
      running.splice(running.indexOf(id), 1);
      walk.set(id, fails && choose.next().value % 4 === 0 ? 'failed' : 'succeeded');
    }
    log.push(move);
    if (resets > log.length && choose.next().value % 2 === 0) {
      const [again] = ended()[choose.next().value % Math.max(1, ended().length)] ?? [];
      if (again !== undefined) {
        walk.records.delete(again);
        walk.structure.touch(again);
      }
    }
  }
  throw new Error('the plan never comes to rest');
}

const transparent = new Set(['if', 'branch', 'each', 'switch']);

/** Children as order sees them: through nodes that only choose. */
function itemsOf(node: PlanNode): readonly PlanNode[] {
  return node.children.flatMap(child => {
    if (child.kind === 'branch' && !child.data.taken) return [];
    return transparent.has(child.kind) ? itemsOf(child) : [child];
  });
}

const underWay = (walk: Walk, node: PlanNode, ready: ReadonlySet<string>) =>
  nodesOf(node).some(
    ({ id }) => ready.has(id) || walk.structure.statusOf(id) === 'running' || walk.structure.statusOf(id) === 'blocked',
  );

describe('any plan, in any order of events', () => {
  it('[P17] never runs more children of a limited Parallel than its limit', () => {
    fc.assert(
      fc.property(trees, picks, fc.boolean(), (tree, choose, fails) => {
        const limited = nodesOf(tree).filter(node => node.kind === 'parallel' && node.data.limit !== undefined);
        play(tree, choose, fails, walk => {
          for (const node of limited) {
            const working = itemsOf(node).filter(item =>
              nodesOf(item).some(({ id, kind }) => kind === 'task' && walk.structure.statusOf(id) === 'running'),
            );
            expect(working.length).toBeLessThanOrEqual((node.data as { limit: number }).limit);
          }
        });
      }),
    );
  });

  it('[P15] keeps phases in order, and steps of a phase', () => {
    fc.assert(
      fc.property(trees, picks, fc.boolean(), (tree, choose, fails) => {
        const ordered = nodesOf(tree).filter(node => node.kind === 'phase' || node.kind === 'plan');
        play(tree, choose, fails, walk => {
          const ready = new Set(walk.ready());
          for (const owner of ordered) {
            for (const kind of owner.kind === 'plan' ? ['phase'] : ['phase', 'step']) {
              const sequence = itemsOf(owner).filter(item => item.kind === kind);
              const first = sequence.findIndex(item => underWay(walk, item, ready));
              expect(sequence.slice(first + 1).filter(item => first >= 0 && underWay(walk, item, ready))).toEqual([]);
            }
          }
        });
      }),
    );
  });

  it('[P25] makes progress: when nothing runs and nothing may, everything is done', () => {
    fc.assert(
      fc.property(trees, picks, (tree, choose) => {
        let last: Walk | undefined;
        play(tree, choose, false, walk => {
          last = walk;
        });
        expect(last?.activity().done).toBe(true);
      }),
    );
  });

  it('[P25] when something failed and nothing else moves, the plan is not done', () => {
    fc.assert(
      fc.property(trees, picks, (tree, choose) => {
        let last: Walk | undefined;
        play(tree, choose, true, walk => {
          last = walk;
        });
        const end = last?.activity();
        expect(end?.done).toBe(end?.failed === 0);
      }),
    );
  });

  it('[P25] is decided by the tree and the records alone: incremental and rebuilt structures are equal', () => {
    fc.assert(
      fc.property(trees, picks, fc.boolean(), (tree, choose, fails) => {
        play(
          tree,
          choose,
          fails,
          walk => {
            const anew = createStructure({ recordOf: id => walk.records.get(id) });
            anew.setTree(tree);
            expect(walk.activity()).toEqual(anew.activity());
            expect(walk.statuses()).toEqual(Object.fromEntries(nodesOf(tree).map(({ id }) => [id, anew.statusOf(id)])));
          },
          20,
        );
      }),
    );
  });

  it('[P25] a tree that changes on the way is treated as if it had been there from the start', () => {
    fc.assert(
      fc.property(trees, trees, picks, (first, second, choose) => {
        const walk = walkOf(first);
        for (const id of walk.ready().slice(0, choose.next().value % 5)) walk.set(id, 'succeeded');
        walk.show(second);
        const anew = createStructure({ recordOf: id => walk.records.get(id) });
        anew.setTree(second);
        expect(walk.structure.activity()).toEqual(anew.activity());
      }),
    );
  });
});
