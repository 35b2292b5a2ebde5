import { type ErrorEnvelope, err, failure, type NodeId, ok, type Result } from '@signalbox/model';
import { checkpointNodeIdOf } from './checkpoint-plan.ts';
import type { DedupeKey, DomainEvent, EventOf } from './domain-event.ts';
import type { Place } from './event-draft.ts';
import type { AttemptId } from './ids.ts';

/** The source of a replay; the journal's own view implements it. */
export interface RecordedEvents {
  find(key: DedupeKey): DomainEvent | undefined;
}

export type InvariantError = ErrorEnvelope<'SESSION_INVARIANT_VIOLATION'>;

export type RecordedAdvance =
  | { readonly kind: 'blocked'; readonly advance: EventOf<'advance_recorded'> }
  | {
      readonly kind: 'advanced';
      readonly advance: EventOf<'advance_recorded'>;
      readonly node: EventOf<'node_created'>;
      readonly edge: EventOf<'edge_created'>;
    };

/**
 * The record of an attempt: a replay returns it and computes nothing. Undefined for an attempt that was never made. An
 * incomplete record is never filled in.
 */
export function recordedAdvance(
  recorded: RecordedEvents,
  place: Place,
  attemptId: AttemptId,
): Result<RecordedAdvance | undefined, InvariantError> {
  const { sessionId, runId, nodeId } = place;
  const advance = recorded.find(`advance_recorded:${sessionId}:${nodeId}:${attemptId}` as DedupeKey);
  if (advance === undefined) return ok(undefined);
  if (advance.kind !== 'advance_recorded') return err(violated(place, 'the key of an advance names another event'));
  const { outcome } = advance.data;
  if (outcome.kind === 'blocked') return ok({ kind: 'blocked', advance });
  const node = findNode(recorded, place, outcome.toNodeId);
  const edge = recorded.find(
    `edge_created:${sessionId}:${runId}:${nodeId}->${outcome.toNodeId}:acked_step` as DedupeKey,
  );
  if (node === undefined) return err(violated(place, `the node ${outcome.toNodeId} it led to is not recorded`));
  if (edge?.kind !== 'edge_created') return err(violated(place, `the edge to ${outcome.toNodeId} is not recorded`));
  return ok({ kind: 'advanced', advance, node, edge });
}

/** The same, if the outcome must exist, as after an append. */
export function requireRecordedAdvance(
  recorded: RecordedEvents,
  place: Place,
  attemptId: AttemptId,
): Result<RecordedAdvance, InvariantError> {
  const found = recordedAdvance(recorded, place, attemptId);
  if (!found.ok) return found;
  return found.value === undefined ? err(violated(place, `attempt ${attemptId} has no outcome`)) : ok(found.value);
}

/** The checkpoint that an attempt made, or undefined. */
export function recordedCheckpoint(
  recorded: RecordedEvents,
  place: Place,
  attemptId: AttemptId,
): Result<EventOf<'node_created'> | undefined, InvariantError> {
  const { sessionId, runId, nodeId } = place;
  const checkpointNodeId = checkpointNodeIdOf(place, attemptId);
  const node = findNode(recorded, place, checkpointNodeId);
  if (node === undefined) return ok(undefined);
  const edge = recorded.find(
    `edge_created:${sessionId}:${runId}:${nodeId}->${checkpointNodeId}:checkpoint` as DedupeKey,
  );
  return edge === undefined
    ? err(violated(place, `the edge to checkpoint ${checkpointNodeId} is not recorded`))
    : ok(node);
}

function findNode(recorded: RecordedEvents, place: Place, nodeId: NodeId): EventOf<'node_created'> | undefined {
  const found = recorded.find(`node_created:${place.sessionId}:${place.runId}:${nodeId}` as DedupeKey);
  return found?.kind === 'node_created' ? found : undefined;
}

function violated(place: Place, why: string): InvariantError {
  return failure('SESSION_INVARIANT_VIOLATION', {
    message: `What session ${place.sessionId} holds of node ${place.nodeId} contradicts itself: ${why}. Nothing was computed again.`,
    suggestion: 'Check the session with `signalbox verify`, export what is valid, and go on from an earlier place.',
    details: { ...place },
  });
}
