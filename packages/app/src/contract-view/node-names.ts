import type { NodeId, RunId } from '@signalbox/model';
import { contractNodeId, nodeKey } from '@signalbox/runs';

const RUNS_KEPT = 16;
const NAMES_KEPT = 20_000;

/** The contract's node names of recently read runs: deriving a name costs more than reading a node. */
const known = new Map<RunId, Map<string, NodeId>>();

/** The contract's names of a run's nodes. Always the same names; the cache only makes them faster. */
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
