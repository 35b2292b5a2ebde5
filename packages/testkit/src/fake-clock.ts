import type { Clock } from '@signalbox/model';

/** A clock that stands still until it is told to move. */
export interface FakeClock extends Clock {
  advance(milliseconds: number): void;
}

export function fakeClock(start = Date.UTC(2026, 0, 1)): FakeClock {
  let now = start;
  return {
    now: () => now,
    advance(milliseconds) {
      now += milliseconds;
    },
  };
}
