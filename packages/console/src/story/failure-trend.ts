import type { RunSummary } from '@signalbox/model';
import { hasFailed } from './failure-groups.ts';

const HOUR = 3_600_000;

/** The periods, and their parts. */
export const periods = {
  day: { parts: 24, partMs: HOUR },
  week: { parts: 7, partMs: 24 * HOUR },
} as const;
export type Period = keyof typeof periods;

export interface Ended {
  readonly ended: number;
  readonly failed: number;
}

/** Each part of a period, oldest first; the last one is not over. */
export function trendOf(runs: readonly RunSummary[], now: number, period: Period): readonly Ended[] {
  const { parts, partMs } = periods[period];
  return Array.from({ length: parts }, (_, index) => {
    const from = now - (parts - index) * partMs;
    return endedBetween(runs, from, from + partMs);
  });
}

/** After `after`, up to and including `until`. */
export function endedBetween(runs: readonly RunSummary[], after: number, until: number): Ended {
  const ended = runs.filter(run => {
    const { status, endedAt, updatedAt } = run.record;
    const at = Date.parse(endedAt ?? updatedAt);
    return (status === 'completed' || hasFailed(run)) && at > after && at <= until;
  });
  return { ended: ended.length, failed: ended.filter(hasFailed).length };
}
