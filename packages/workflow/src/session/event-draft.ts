import type { AppendPlan, EventDraft } from '@signalbox/journal';
import type { Digest, EventId, NodeId, RunId, SessionId } from '@signalbox/model';
import { type DedupeKey, type DomainEvent, dedupeKeyOf, type EventFacts } from './domain-event.ts';
import type { EngineState } from './execution-snapshot.ts';
import { guidedId } from './ids.ts';

/** A place in a session. */
export interface Place {
  readonly sessionId: SessionId;
  readonly runId: RunId;
  readonly nodeId: NodeId;
}

/** The result of one decision: texts for the snapshot store, then the events, as one append. */
export interface SessionPlan {
  readonly snapshots: readonly string[];
  /** The content of these snapshots by name, so that nobody has to read them again. */
  readonly states?: ReadonlyMap<Digest, EngineState> | undefined;
  readonly plan: AppendPlan<DomainEvent>;
}

/** An event in a plan. Its key follows from its facts and its id from its key, so a retry names the same event. */
export function draftOf(facts: EventFacts): EventDraft<DomainEvent> {
  const { sessionId, ...rest } = facts;
  const dedupeKey = dedupeKeyOf(facts);
  return { ...rest, dedupeKey, eventId: eventIdOf(sessionId, dedupeKey) } as EventDraft<DomainEvent>;
}

export function eventIdOf(sessionId: SessionId, dedupeKey: DedupeKey): EventId {
  return guidedId<EventId>('event', sessionId, dedupeKey);
}
