import type { NodeId } from '@signalbox/model';
import type { Capability } from '../compile/compiled-workflow.ts';
import type { CapabilityProvenance, CapabilityStatus } from '../session/capability.ts';
import { perHistory } from './per-history.ts';
import { type RunDag, upwards } from './run-dag.ts';

export interface CapabilityObservation {
  readonly capability: Capability;
  readonly status: CapabilityStatus;
  readonly provenance: CapabilityProvenance;
  readonly observedAt: number;
}

/** Observations at each node, in order. */
export type CapabilityHistory = ReadonlyMap<NodeId, readonly CapabilityObservation[]>;

export const projectCapabilities = perHistory<CapabilityHistory>((before = new Map(), events) => {
  const observed = events.filter(event => event.kind === 'capability_observed');
  if (observed.length === 0) return before;
  const history = new Map(before);
  for (const { data, scope, eventIndex } of observed) {
    const { capability, status, provenance } = data;
    const seen = history.get(scope.nodeId) ?? [];
    history.set(scope.nodeId, [...seen, { capability, status, provenance, observedAt: eventIndex }]);
  }
  return history;
});

/** The known state at a node: its own last observation, else the nearest earlier one. */
export function capabilityAt(
  history: CapabilityHistory,
  dag: RunDag,
  nodeId: NodeId,
  capability: Capability,
): CapabilityObservation | undefined {
  return nearest(history, dag, nodeId, seen => seen.capability === capability);
}

/** Observations that may unlock a required capability: those with strong provenance, not claims. */
export function enforceableStatus(
  history: CapabilityHistory,
  dag: RunDag,
  nodeId: NodeId,
  capability: Capability,
): CapabilityStatus {
  const strong = nearest(
    history,
    dag,
    nodeId,
    seen => seen.capability === capability && seen.provenance.enforcementGrade === 'strong',
  );
  return strong?.status ?? 'unknown';
}

function nearest(
  history: CapabilityHistory,
  dag: RunDag,
  nodeId: NodeId,
  fits: (seen: CapabilityObservation) => boolean,
): CapabilityObservation | undefined {
  if (history.size === 0) return undefined;
  for (const node of upwards(dag, nodeId)) {
    const seen = history.get(node.nodeId)?.findLast(fits);
    if (seen !== undefined) return seen;
  }
  return undefined;
}
