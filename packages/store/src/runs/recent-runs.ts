import type { RunId } from '@signalbox/model';
import { recentMap } from './recent-map.ts';
import type { NumberedRun } from './run-rows.ts';

/** Run records as of the open transaction. Clear it after any rollback. */
export interface RecentRuns {
  get(run: RunId): NumberedRun | undefined;
  set(run: RunId, numbered: NumberedRun): void;
  clear(): void;
}

const MAX_RUNS = 1_000;

export function recentRuns(maxRuns = MAX_RUNS): RecentRuns {
  return recentMap<RunId, NumberedRun>(maxRuns, () => 1);
}
