import type { AgentId, ApprovalId, TrustCalibrationProfile } from '@signalbox/model';
import { judge } from '../control/judge.ts';
import type { Fact } from '../facts.ts';
import { stepFleet } from '../fleet.ts';
import { emptyFleet } from '../fleet-state.ts';
import type { InnerFact } from '../inner-facts.ts';
import { stepTrust, type TrustFact } from './trust.ts';
import { noTrust } from './trust-state.ts';
import { trustMargin } from './trust-threshold.ts';

/** A tool call that would have been put to a person, or not, with another profile. */
interface TrustDifference {
  readonly decisionId: ApprovalId;
  readonly agentId: AgentId;
  readonly toolName: string;
  readonly tick: number;
  /** What happened, and what would have. */
  readonly wasAsked: boolean;
  readonly wouldBeAsked: boolean;
  /** The rule that would have applied. */
  readonly reason: string;
  readonly actualScore: number;
  readonly simulatedScore: number;
}

export interface TrustSimulation {
  readonly scores: { readonly [agent: AgentId]: { readonly actual: number; readonly simulated: number } };
  readonly differences: readonly TrustDifference[];
}

/**
 * What another profile would have made of a history. People's answers stay as they were: they are what the profile is judged by. So a call
 * that would not have been asked still counts with the answer it got.
 */
export function simulateTrust(facts: Iterable<Fact>, profile: TrustCalibrationProfile): TrustSimulation {
  let fleet = emptyFleet;
  let simulated = noTrust;
  const differences: TrustDifference[] = [];
  const watch = (now: typeof fleet, fact: Fact | InnerFact) => {
    if (isTrustFact(fact)) simulated = stepTrust(simulated, fact, profile, now.ticks.current).state;
    if (fact.kind !== 'decision_raised' || fact.judged === null || fact.event.subtype !== 'tool_approval') return;
    if (now.decisions.items[fact.event.decisionId] !== undefined) return;
    const { agentId, decisionId, toolName } = fact.event;
    const earned = simulated[agentId];
    const score = earned?.score ?? profile.config.initialScore;
    const trust = { score, margin: trustMargin(earned?.samples ?? 0, profile.config) };
    const { mode, case: actual } = fact.judged;
    const verdict = judge(mode, { ...actual, facts: { ...actual.facts, trust } });
    if (verdict.asks === fact.verdict.asks) return;
    differences.push({
      decisionId,
      agentId,
      toolName,
      tick: now.ticks.current,
      wasAsked: fact.verdict.asks,
      wouldBeAsked: verdict.asks,
      reason: verdict.reason,
      actualScore: actual.facts.trust.score,
      simulatedScore: score,
    });
  };
  for (const fact of facts) ({ state: fleet } = stepFleet(fleet, fact, watch));
  const ids = Object.keys(fleet.trust) as AgentId[];
  const scores = Object.fromEntries(
    ids.map(id => [id, { actual: fleet.trust[id]?.score ?? 0, simulated: simulated[id]?.score ?? 0 }]),
  );
  return { scores, differences };
}

/** Events that the fleet makes itself are no activity of the agent. */
function isTrustFact(fact: Fact | InnerFact): fact is TrustFact {
  switch (fact.kind) {
    case 'agent_briefed':
    case 'trust_outcome':
    case 'ticked':
      return true;
    case 'event_accepted':
      return !fact.marks.isOwn;
    default:
      return false;
  }
}
