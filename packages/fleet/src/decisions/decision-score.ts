import { blastRadiusRank, type DecisionBadge, severityRank } from '@signalbox/model';
import { type DecisionState, type FleetDecision, isWaiting } from './decision-state.ts';

/** What a badge adds: one that timed out is first, then those whose agent is gone, then by severity, blast radius and doubt. */
const badgeScores: { readonly [Badge in DecisionBadge]: number } = {
  timed_out: 2_000,
  agent_killed: 1_000,
  agent_braked: 0,
  reassigned: 0,
};

export function scoreOf(decision: Pick<FleetDecision, 'severity' | 'blastRadius' | 'confidence' | 'badges'>): number {
  const badges = decision.badges.reduce((sum, badge) => sum + badgeScores[badge], 0);
  const doubt = Math.round((1 - decision.confidence) * 9);
  return badges + severityRank(decision.severity) * 100 + blastRadiusRank(decision.blastRadius) * 10 + doubt;
}

/** What waits for a person: the highest score first, among equals the one that is due first, then the oldest. */
export function decisionQueue(state: DecisionState): readonly FleetDecision[] {
  return Object.values(state.items)
    .filter(isWaiting)
    .sort((a, b) => b.score - a.score || dueOf(a) - dueOf(b) || a.number - b.number);
}

function dueOf({ dueByTick }: FleetDecision): number {
  return dueByTick ?? Number.POSITIVE_INFINITY;
}
