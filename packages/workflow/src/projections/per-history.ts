import type { DomainEvent } from '../session/domain-event.ts';

/** What is made of a history is made once: no event of a list is ever changed, taken or added. */
export function perHistory<T extends object>(
  project: (events: readonly DomainEvent[]) => T,
): (events: readonly DomainEvent[]) => T {
  const made = new WeakMap<readonly DomainEvent[], T>();
  return events => {
    const known = made.get(events);
    if (known !== undefined) return known;
    const projected = project(events);
    made.set(events, projected);
    return projected;
  };
}
