import type { RunId } from '@signalbox/model';
import type { NumberedRun } from './run-rows.ts';

/** Run records as of the open transaction. Clear it after any rollback. */
export interface RecentRuns {
  get(run: RunId): NumberedRun | undefined;
  set(run: RunId, numbered: NumberedRun): void;
  clear(): void;
}

const MAX_RUNS = 1_000;

export function recentRuns(maxRuns = MAX_RUNS): RecentRuns {
  const runs = new Map<RunId, NumberedRun>();
  return {
    get: run => runs.get(run),
    set(run, numbered) {
      runs.delete(run);
      runs.set(run, numbered);
      if (runs.size <= maxRuns) return;
      const [oldest] = runs.keys();
      if (oldest !== undefined) runs.delete(oldest);
    },
    clear: () => runs.clear(),
  };
}
