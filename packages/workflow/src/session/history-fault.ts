import type { Digest, EventId, NodeId, RunId } from '@signalbox/model';
import type { DomainEvent, EventOf } from './domain-event.ts';
import type { GapId, OutputId } from './ids.ts';

/**
 * Why a list of events is not the history of a session, or undefined. Each event is valid on its own; this checks them
 * together: everything referred to must exist earlier, in the same session, run and node.
 */
export function historyFault(events: readonly DomainEvent[]): string | undefined {
  const known: Known = {
    keys: new Set(),
    runs: new Map(),
    rooted: new Set(),
    nodes: new Map(),
    gaps: new Set(),
    outputs: new Map(),
  };
  const ids = new Set<EventId>(events.map(event => event.eventId));
  if (ids.size !== events.length) return 'an event id is used twice';
  for (const event of events) {
    const fault = eventFault(event, known, ids);
    if (fault !== undefined) return `event ${event.eventIndex} (${event.kind}): ${fault}`;
    known.keys.add(event.dedupeKey);
  }
  return events.map(event => outcomeFault(event, known)).find(fault => fault !== undefined);
}

interface Known {
  readonly keys: Set<string>;
  readonly runs: Map<RunId, Digest>;
  readonly rooted: Set<RunId>;
  readonly nodes: Map<NodeId, EventOf<'node_created'>>;
  readonly gaps: Set<GapId>;
  readonly outputs: Map<OutputId, EventOf<'node_output_appended'>>;
}

function eventFault(event: DomainEvent, known: Known, ids: ReadonlySet<EventId>): string | undefined {
  if (known.keys.has(event.dedupeKey)) return 'its dedupe key was used before';
  if ((event.eventIndex === 0) !== (event.kind === 'session_created')) return 'a session begins with session_created';
  switch (event.kind) {
    case 'session_created':
    case 'observation_recorded':
      return undefined;
    case 'run_started':
      known.runs.set(event.scope.runId, event.data.workflowHash);
      return undefined;
    case 'context_set':
      return known.runs.has(event.scope.runId) ? undefined : 'its run was not started';
    case 'node_created':
      return nodeFault(event, known);
    case 'edge_created':
      return edgeFault(event, known, ids);
    case 'gap_recorded':
      return gapFault(event, known, ids) ?? placeFault(event.scope, known);
    case 'node_output_appended': {
      const { outputId, supersedesOutputId, outputChannel } = event.data;
      const corrected = supersedesOutputId && known.outputs.get(supersedesOutputId);
      if (supersedesOutputId !== undefined) {
        if (corrected?.scope.nodeId !== event.scope.nodeId) return 'it corrects an output that its node does not have';
        if (corrected.data.outputChannel !== outputChannel) return 'it corrects an output of another channel';
      }
      known.outputs.set(outputId, event);
      return placeFault(event.scope, known);
    }
    default:
      return placeFault(event.scope, known);
  }
}

function nodeFault(event: EventOf<'node_created'>, known: Known): string | undefined {
  const { runId, nodeId } = event.scope;
  const { parentNodeId, workflowHash } = event.data;
  if (known.runs.get(runId) !== workflowHash) return 'its workflow is not the one that its run is pinned to';
  if (known.nodes.has(nodeId)) return 'its node was created before';
  const hasRoot = known.rooted.has(runId);
  if (parentNodeId === null ? hasRoot : known.nodes.get(parentNodeId)?.scope.runId !== runId) {
    return parentNodeId === null ? 'its run has a root already' : 'its parent is not a node of its run';
  }
  known.rooted.add(runId);
  known.nodes.set(nodeId, event);
  return undefined;
}

function edgeFault(event: EventOf<'edge_created'>, known: Known, ids: ReadonlySet<EventId>): string | undefined {
  const { edgeKind, fromNodeId, toNodeId, cause } = event.data;
  const [from, to] = [known.nodes.get(fromNodeId), known.nodes.get(toNodeId)];
  if (from?.scope.runId !== event.scope.runId || to?.scope.runId !== event.scope.runId) {
    return 'its ends are not nodes of its run';
  }
  if (to.data.parentNodeId !== fromNodeId) return 'it does not lead from a parent to its child';
  if ((edgeKind === 'checkpoint') !== (to.data.nodeKind === 'checkpoint')) return 'its kind is not that of its node';
  return ids.has(cause.eventId) ? undefined : 'its cause is not in the session';
}

function gapFault(event: EventOf<'gap_recorded'>, known: Known, ids: ReadonlySet<EventId>): string | undefined {
  const { gapId, resolution, evidenceRefs = [] } = event.data;
  if (resolution.kind === 'resolves' && !known.gaps.has(resolution.resolvesGapId)) return 'it resolves no known gap';
  known.gaps.add(gapId);
  const isShown = evidenceRefs.every(ref =>
    ref.kind === 'event' ? ids.has(ref.eventId) : known.outputs.has(ref.outputId),
  );
  return isShown ? undefined : 'its evidence is not in the session';
}

/** A successful attempt must have recorded its node and its edge. */
function outcomeFault(event: DomainEvent, known: Known): string | undefined {
  if (event.kind !== 'advance_recorded' || event.data.outcome.kind === 'blocked') return undefined;
  const { sessionId, scope } = event;
  const { toNodeId } = event.data.outcome;
  const edge = `edge_created:${sessionId}:${scope.runId}:${scope.nodeId}->${toNodeId}:acked_step`;
  if (known.nodes.has(toNodeId) && known.keys.has(edge)) return undefined;
  return `event ${event.eventIndex} (advance_recorded): the node or the edge it led to is not recorded`;
}

function placeFault(scope: { readonly runId: RunId; readonly nodeId: NodeId }, known: Known): string | undefined {
  return known.nodes.get(scope.nodeId)?.scope.runId === scope.runId ? undefined : 'its node is not one of its run';
}
