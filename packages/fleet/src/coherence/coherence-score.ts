import type { Severity } from '@signalbox/model';
import type { CoherenceState } from './coherence-state.ts';

/** What an open issue takes from the score. A warning takes nothing. */
const penalties: { readonly [Level in Severity]: number } = { critical: 15, high: 8, medium: 3, low: 1, warning: 0 };
const TREND_TICKS = 10;

/** 100 without open issues; never below 0. */
export function coherenceScore({ issues }: Pick<CoherenceState, 'issues'>): number {
  const lost = Object.values(issues)
    .filter(({ status }) => status !== 'resolved' && status !== 'dismissed')
    .reduce((sum, { severity }) => sum + penalties[severity], 0);
  return Math.max(0, 100 - lost);
}

/** How much the score changed in the last ten ticks. */
export function coherenceTrend(state: CoherenceState, tick: number): number {
  const before = state.scores.filter(entry => entry.tick <= tick - TREND_TICKS).at(-1)?.score ?? 100;
  return coherenceScore(state) - before;
}
