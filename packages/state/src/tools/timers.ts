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
