import type { Clock } from '@signalbox/model';
import { defineResource } from '../snapshots/resources.ts';

/** An instant after which an evaluation ends, whatever it is doing. */
export interface Deadline {
  /** Milliseconds since the Unix epoch, on the injected clock. */
  readonly at: number;
  remainingMs(): number;
  hasPassed(): boolean;
}

export const deadline = defineResource<Deadline>('Deadline');

export function createDeadline(clock: Clock, at: number): Deadline {
  return { at, remainingMs: () => Math.max(0, at - clock.now()), hasPassed: () => clock.now() >= at };
}

/** Calls back later, and not at all once canceled. The machine's timers in production, a test's own in tests. */
export interface Timers {
  after(ms: number, run: () => void): () => void;
}

/** The longest a timer of the platform can wait. */
const LONGEST_MS = 2 ** 31 - 1;

export const machineTimers: Timers = {
  after(ms, run) {
    const timer = setTimeout(run, Math.min(ms, LONGEST_MS));
    return () => clearTimeout(timer);
  },
};
