import { type NodeId, ok, type Result } from '@signalbox/model';
import { dedupeKeyOf, type EventFacts, type EventOf } from './domain-event.ts';
import { draftOf, eventIdOf, type Place, type SessionPlan } from './event-draft.ts';
import { type AttemptId, guidedId } from './ids.ts';
import type { InvalidInput } from './invalid-input.ts';
import { recapFacts } from './output-facts.ts';

export interface CheckpointPlan extends SessionPlan {
  readonly checkpointNodeId: NodeId;
}

/** A mark at a place, with notes. It is at its parent's place: no step is taken. */
export function planCheckpoint(
  from: EventOf<'node_created'>,
  attempt: { readonly attemptId: AttemptId; readonly notesMarkdown?: string | undefined },
): Result<CheckpointPlan, InvalidInput> {
  const { sessionId } = from;
  const { runId, nodeId } = from.scope;
  const checkpointNodeId = checkpointNodeIdOf({ sessionId, runId, nodeId }, attempt.attemptId);
  const scope = { runId, nodeId: checkpointNodeId };
  const created: EventFacts = {
    sessionId,
    kind: 'node_created',
    scope,
    data: {
      nodeKind: 'checkpoint',
      parentNodeId: nodeId,
      workflowHash: from.data.workflowHash,
      snapshotRef: from.data.snapshotRef,
    },
  };
  const recap = recapFacts({ sessionId, ...scope }, attempt.attemptId, attempt.notesMarkdown);
  if (!recap.ok) return recap;
  const facts: EventFacts[] = [created, ...recap.value];
  facts.push({
    sessionId,
    kind: 'edge_created',
    scope: { runId },
    data: {
      edgeKind: 'checkpoint',
      fromNodeId: nodeId,
      toNodeId: checkpointNodeId,
      cause: { kind: 'checkpoint_created', eventId: eventIdOf(sessionId, dedupeKeyOf(created)) },
    },
  });
  return ok({ checkpointNodeId, snapshots: [], plan: { events: facts.map(draftOf) } });
}

export function checkpointNodeIdOf(place: Place, attemptId: AttemptId): NodeId {
  return guidedId<NodeId>('checkpoint', place.sessionId, place.nodeId, attemptId);
}
