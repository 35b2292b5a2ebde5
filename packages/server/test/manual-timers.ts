import type { Machine } from '@signalbox/app/host';

/** Timers that go off when a test says so. */
export interface ManualTimers {
  readonly timers: Machine['timers'];
  /** Lets time pass: what is due goes off, in its order. */
  advance(ms: number): void;
  readonly waiting: number;
}

export function manualTimers(): ManualTimers {
  const due = new Set<{ readonly at: number; readonly run: () => void }>();
  let now = 0;
  return {
    timers: {
      after(ms, run) {
        const timer = { at: now + ms, run };
        due.add(timer);
        return () => due.delete(timer);
      },
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const next = [...due].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        now = next.at;
        due.delete(next);
        next.run();
      }
      now = end;
    },
    get waiting() {
      return due.size;
    },
  };
}
