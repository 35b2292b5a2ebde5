import type { NodeId, RunId } from '@signalbox/model';
import { contractNodeId, nodeKey } from '@signalbox/runs';

const RUNS_KEPT = 16;
const NAMES_KEPT = 20_000;

/** Of the runs that were read last, what the contract calls their nodes: deriving a name costs more than reading a node. */
const known = new Map<RunId, Map<string, NodeId>>();

/** What the contract calls the nodes of a run. It always says the same; it only says it sooner of what was asked before. */
export function nodeNames(run: RunId): (node: string) => NodeId {
  const names = known.get(run) ?? new Map<string, NodeId>();
  known.delete(run);
  known.set(run, names);
  for (const oldest of known.keys()) {
    if (known.size <= RUNS_KEPT) break;
    known.delete(oldest);
  }
  return node => {
    const before = names.get(node);
    if (before !== undefined) return before;
    const name = contractNodeId(run, nodeKey.parse(node));
    if (names.size < NAMES_KEPT) names.set(node, name);
    return name;
  };
}
