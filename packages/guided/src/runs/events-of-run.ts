import type { RunId } from '@signalbox/model';
import type { DomainEvent } from '@signalbox/workflow';

/** An event of a guided run, with its place among the run's events. */
export interface PlacedEvent {
  readonly seq: number;
  readonly event: DomainEvent;
}

/**
 * The events of one run of a session, in order: its own, and those of the session, which belong to all its runs. Later appends only come
 * after them.
 */
export function eventsOfRun(events: readonly DomainEvent[], run: RunId): readonly PlacedEvent[] {
  return events
    .filter(event => !('scope' in event) || event.scope === undefined || event.scope.runId === run)
    .map((event, seq) => ({ seq, event }));
}
