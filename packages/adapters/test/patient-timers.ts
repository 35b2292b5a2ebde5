import type { Timers } from '@signalbox/state';

/** Half as long as an agent has to start. */
const PATIENCE_MS = 60_000;

/** Timers that end no agent because this machine is busy: long waits never end. A test that waits for nothing is ended by its runner. */
export function patientTimers(timers: Timers): Timers {
  return { after: (ms, work) => (ms < PATIENCE_MS ? timers.after(ms, work) : () => {}) };
}
