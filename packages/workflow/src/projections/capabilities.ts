import type { NodeId } from '@signalbox/model';
import type { Capability } from '../compile/compiled-workflow.ts';
import type { CapabilityProvenance, CapabilityStatus } from '../session/capability.ts';
import type { DomainEvent } from '../session/domain-event.ts';
import { lineage, type RunDag } from './run-dag.ts';

export interface CapabilityObservation {
  readonly capability: Capability;
  readonly status: CapabilityStatus;
  readonly provenance: CapabilityProvenance;
  readonly observedAt: number;
}

/** What was observed at each node, in order. */
export type CapabilityHistory = ReadonlyMap<NodeId, readonly CapabilityObservation[]>;

export function projectCapabilities(events: readonly DomainEvent[]): CapabilityHistory {
  const history = new Map<NodeId, CapabilityObservation[]>();
  for (const event of events) {
    if (event.kind !== 'capability_observed') continue;
    const { capability, status, provenance } = event.data;
    const seen = history.get(event.scope.nodeId) ?? [];
    seen.push({ capability, status, provenance, observedAt: event.eventIndex });
    history.set(event.scope.nodeId, seen);
  }
  return history;
}

/** What is known at a node: its own last observation, else the nearest one on the way to it. */
export function capabilityAt(
  history: CapabilityHistory,
  dag: RunDag,
  nodeId: NodeId,
  capability: Capability,
): CapabilityObservation | undefined {
  return nearest(history, dag, nodeId, seen => seen.capability === capability);
}

/** What may unlock a required capability: observations with strong provenance, and no claims. */
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
  for (const node of lineage(dag, nodeId)) {
    const seen = history.get(node.nodeId)?.findLast(fits);
    if (seen !== undefined) return seen;
  }
  return undefined;
}
