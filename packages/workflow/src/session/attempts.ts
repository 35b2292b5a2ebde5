import type { NodeId } from '@signalbox/model';
import { perHistory } from '../projections/per-history.ts';
import type { DomainEvent } from './domain-event.ts';
import type { Place } from './event-draft.ts';
import { type AttemptId, guidedId } from './ids.ts';

/**
 * The next attempt that an answer offers at a place. It follows from what is recorded there: it stays the same until an
 * attempt is recorded, then changes, so that a second walk from the same place is a fork and a retry is not.
 */
export function nextAttemptId(history: readonly DomainEvent[], place: Place): AttemptId {
  const recorded = recordedAt(history).advances.get(place.nodeId) ?? 0;
  return guidedId<AttemptId>('attempt', place.sessionId, place.runId, place.nodeId, recorded);
}

/** The same for checkpoints, which are numbered separately. */
export function nextCheckpointId(history: readonly DomainEvent[], place: Place): AttemptId {
  const recorded = recordedAt(history).checkpoints.get(place.nodeId) ?? 0;
  return guidedId<AttemptId>('checkpoint-attempt', place.sessionId, place.runId, place.nodeId, recorded);
}

/** How many of each were recorded at each node. */
interface Recorded {
  readonly advances: ReadonlyMap<NodeId, number>;
  readonly checkpoints: ReadonlyMap<NodeId, number>;
}

const recordedAt = perHistory<Recorded>((before, history) => {
  const advances = new Map(before?.advances);
  const checkpoints = new Map(before?.checkpoints);
  const count = (counts: Map<NodeId, number>, nodeId: NodeId) => counts.set(nodeId, (counts.get(nodeId) ?? 0) + 1);
  for (const event of history) {
    if (event.kind === 'advance_recorded') count(advances, event.scope.nodeId);
    if (event.kind === 'node_created' && event.data.nodeKind === 'checkpoint' && event.data.parentNodeId !== null) {
      count(checkpoints, event.data.parentNodeId);
    }
  }
  return { advances, checkpoints };
});
