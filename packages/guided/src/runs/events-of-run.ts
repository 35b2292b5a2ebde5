import type { RunId } from '@signalbox/model';
import type { DomainEvent } from '@signalbox/workflow';

/** An event of a guided run, in its place among the events of that run. */
export interface PlacedEvent {
  readonly seq: number;
  readonly event: DomainEvent;
}

/**
 * The events of one run of a session, in order: its own, and those of the session, which are of all its runs. What is appended
 * later only comes after them.
 */
export function eventsOfRun(events: readonly DomainEvent[], run: RunId): readonly PlacedEvent[] {
  return events
    .filter(event => !('scope' in event) || event.scope === undefined || event.scope.runId === run)
    .map((event, seq) => ({ seq, event }));
}
