import type { Clock } from '@signalbox/model';

/** A clock that only moves when told to. */
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
