import type { DomainEvent } from '../session/domain-event.ts';

/**
 * Caches a projection per history, and extends it for a longer history from the result of its beginning: a list of events is
 * never modified.
 *
 * `goOn` returns the result for all events from the result of the first ones, which it does not modify, and the rest.
 */
export function perHistory<T extends object>(
  goOn: (before: T | undefined, events: readonly DomainEvent[]) => T,
): (events: readonly DomainEvent[]) => T {
  const made = new WeakMap<readonly DomainEvent[], T>();
  /** The longest history starting with an event. */
  const longest = new WeakMap<DomainEvent, Made<T>>();
  return events => {
    const known = made.get(events);
    if (known !== undefined) return known;
    const [first] = events;
    const before = first && longest.get(first);
    const isLater = before !== undefined && goesOn(before.events, events);
    const projected = isLater ? goOn(before.projected, events.slice(before.events.length)) : goOn(undefined, events);
    made.set(events, projected);
    if (first !== undefined && (before === undefined || isLater)) longest.set(first, { events, projected });
    return projected;
  };
}

interface Made<T> {
  readonly events: readonly DomainEvent[];
  readonly projected: T;
}

function goesOn(before: readonly DomainEvent[], events: readonly DomainEvent[]): boolean {
  if (before.length > events.length) return false;
  for (let index = before.length - 1; index >= 0; index--) if (before[index] !== events[index]) return false;
  return true;
}
