/** Calls back later, unless canceled. Platform timers in production, fake ones in tests. */
export interface Timers {
  after(ms: number, run: () => void): () => void;
}

/** The longest delay of a platform timer. */
const LONGEST_MS = 2 ** 31 - 1;

export const machineTimers: Timers = {
  after(ms, run) {
    const timer = setTimeout(run, Math.min(ms, LONGEST_MS));
    return () => clearTimeout(timer);
  },
};
