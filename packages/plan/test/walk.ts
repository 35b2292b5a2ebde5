import type { NodeStatus } from '@signalbox/model';
import type { PlanNode } from '../src/nodes/plan-node.ts';
import { turned } from '../src/structure/loop-turn.ts';
import type { NodeRecord } from '../src/structure/node-record.ts';
import { type Activity, createStructure, type Structure } from '../src/structure/structure.ts';
import { nodesOf } from './elements.ts';

/** A run of a structure without an engine: starts and ends what the test says. */
export interface Walk {
  readonly structure: Structure;
  readonly records: Map<string, NodeRecord>;
  /** Ids that may start now, after every loop took its turn. */
  ready(): readonly string[];
  activity(): Activity;
  set(id: string, status: NodeStatus): void;
  show(tree: PlanNode): void;
  statuses(): Readonly<Record<string, NodeStatus>>;
}

export function walkOf(tree: PlanNode): Walk {
  const records = new Map<string, NodeRecord>();
  const structure = createStructure({ recordOf: id => records.get(id) });
  let shown = tree;
  structure.setTree(tree);
  const activity = () => {
    for (let rounds = 0; rounds < 1000; rounds++) {
      const now = structure.activity();
      if (now.turns.length === 0) return now;
      for (const { loop, turn } of now.turns) {
        records.set(loop.id, turned(records.get(loop.id), turn, structure.scopeOf(loop.id)));
        structure.touch(loop.id);
      }
    }
    throw new Error('the loops never come to rest');
  };
  return {
    structure,
    records,
    activity,
    ready: () => activity().ready.map(node => node.id),
    set(id, status) {
      const signature = structure.signatureOf(id);
      records.set(id, { status, iteration: structure.scopeOf(id), ...(signature === undefined ? {} : { signature }) });
      structure.touch(id);
    },
    show(next) {
      shown = next;
      structure.setTree(next);
    },
    statuses: () => Object.fromEntries(nodesOf(shown).map(({ id }) => [id, structure.statusOf(id)])),
  };
}
