import type { NodeKey } from '@signalbox/runs';
import type { PlanNode } from '../nodes/plan-node.ts';
import { type TreeNode, treeToJson } from '../nodes/tree-json.ts';
import { reconcile } from '../render/reconcile.ts';
import { iterationOf } from '../structure/node-record.ts';
import type { Structure } from '../structure/structure.ts';
import { putNodeRows } from './frame-rows.ts';
import type { RunMemory } from './run-memory.ts';

/** Keeps the tree of the last frame, and says what the next one changes. */
export interface TreeKeeper {
  /** Compares the new tree with the last one, of this process or of the one before. Nodes that left are told first. */
  take(next: PlanNode, onLeft: (node: string) => void): TreeChange;
  /** Whether a Phase named VERIFY runs. */
  readonly isVerifying: boolean;
  readonly tree: PlanNode | undefined;
  shown(): TreeNode | undefined;
}

export interface TreeChange {
  readonly mounted: readonly NodeKey[];
  readonly unmounted: readonly NodeKey[];
  /** Mounted in this process: all of them in its first frame. */
  readonly added: readonly PlanNode[];
}

export function createTreeKeeper(memory: RunMemory, structure: Structure): TreeKeeper {
  let tree: PlanNode | undefined;
  /** Phases of the plan that are named so. */
  const verifying = new Set<string>();
  return {
    take(next, onLeft) {
      if (tree === next) return { mounted: [], unmounted: [], added: [] };
      const diff = reconcile(tree, next);
      const former = tree === undefined ? memory.formerNodes : new Map<string, string>();
      const left = [...former.keys()].filter(id => !diff.rows.has(id)).concat(diff.unmounted.map(node => node.id));
      tree = next;
      left.forEach(onLeft);
      for (const id of left) verifying.delete(id);
      for (const { kind, id, data } of diff.mounted) {
        if (kind === 'phase' && data.name.toUpperCase() === 'VERIFY') verifying.add(id);
      }
      putNodeRows(memory, diff.rows, left);
      const mounted = diff.mounted.filter(node => !former.has(node.id));
      return {
        mounted: mounted.map(node => node.id as NodeKey),
        unmounted: left as NodeKey[],
        added: diff.mounted,
      };
    },
    get isVerifying() {
      return [...verifying].some(id => structure.statusOf(id) === 'running');
    },
    get tree() {
      return tree;
    },
    shown: () =>
      tree &&
      treeToJson(tree, id => {
        const record = memory.records.get(id);
        return {
          status: structure.statusOf(id),
          ...(record?.loop === undefined ? {} : { iteration: iterationOf(record) }),
        };
      }),
  };
}
