import type { DomainEvent } from './domain-event.ts';
import type { Place } from './event-draft.ts';
import { type AttemptId, guidedId } from './ids.ts';

/**
 * The attempt that an answer offers next at a place. It follows from what is recorded there: asked twice it is the same,
 * and after an attempt was recorded it is another, so that a second walk from the same place is a fork and a retry is not.
 */
export function nextAttemptId(history: readonly DomainEvent[], place: Place): AttemptId {
  const recorded = history.filter(
    event => event.kind === 'advance_recorded' && event.scope.nodeId === place.nodeId,
  ).length;
  return guidedId<AttemptId>('attempt', place.sessionId, place.runId, place.nodeId, recorded);
}

/** The same for checkpoints, which are numbered apart. */
export function nextCheckpointId(history: readonly DomainEvent[], place: Place): AttemptId {
  const recorded = history.filter(
    event =>
      event.kind === 'node_created' && event.data.nodeKind === 'checkpoint' && event.data.parentNodeId === place.nodeId,
  ).length;
  return guidedId<AttemptId>('checkpoint-attempt', place.sessionId, place.runId, place.nodeId, recorded);
}
