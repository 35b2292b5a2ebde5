import type { DomainEvent } from '../session/domain-event.ts';

/**
 * What is made of a history is made once, and of one that goes on from what was made of its beginning: no event of a list is ever
 * changed, taken or added.
 *
 * `goOn` gives what all events come to, from what the first of them came to, which it leaves as it is, and the others.
 */
export function perHistory<T extends object>(
  goOn: (before: T | undefined, events: readonly DomainEvent[]) => T,
): (events: readonly DomainEvent[]) => T {
  const made = new WeakMap<readonly DomainEvent[], T>();
  /** The longest history that begins with an event. */
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
