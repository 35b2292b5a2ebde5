import type { DomainEvent } from '../session/domain-event.ts';
import type { ObservationKey, ObservationValue } from '../session/event-data.ts';

/** The last observations of the workspace, by key. */
export type Observations = ReadonlyMap<ObservationKey, ObservationValue>;

export function projectObservations(events: readonly DomainEvent[]): Observations {
  const latest = new Map<ObservationKey, ObservationValue>();
  for (const event of events) {
    if (event.kind === 'observation_recorded') latest.set(event.data.key, event.data.value);
  }
  return latest;
}
