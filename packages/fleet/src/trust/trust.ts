import { type TrustCalibrationProfile, type TrustChange, unreachable } from '@signalbox/model';
import type { InnerFact } from '../inner-facts.ts';
import { inTurn, kept, type Step } from '../step.ts';
import { clampScore, decayedScore, decayPoints, trustDelta } from './trust-delta.ts';
import { type AgentTrust, newTrust, TRUST_HISTORY_KEPT, type TrustState } from './trust-state.ts';

export type TrustFact = Extract<
  InnerFact,
  { kind: 'agent_briefed' | 'agent_seated' | 'event_accepted' | 'trust_outcome' | 'ticked' }
>;

/**
 * What the project's agents have earned.
 *
 * T1  A score is a function of the agent's outcomes, the ticks between them and the profile; nothing else changes it.
 * T2  A score stays between floor and ceiling.
 * T3  In calibration mode no score changes: the hypothetical one does.
 * T4  An outcome of an agent that nobody knows is ignored.
 */
export function stepTrust(
  state: TrustState,
  fact: TrustFact,
  profile: TrustCalibrationProfile,
  tick: number,
): Step<TrustState> {
  switch (fact.kind) {
    case 'agent_briefed':
    case 'agent_seated':
      return state[fact.agentId] === undefined
        ? kept({ ...state, [fact.agentId]: newTrust(fact.agentId, profile.config.initialScore, tick) })
        : kept(state);
    case 'event_accepted': {
      const agent = state[fact.envelope.event.agentId];
      // The decay of the ticks before is settled when they pass, so activity only restarts the count.
      if (agent === undefined || agent.lastActiveTick === tick) return kept(state);
      return kept({ ...state, [agent.agentId]: { ...agent, lastActiveTick: tick, decayed: 0 } });
    }
    case 'trust_outcome':
      return recorded(state, fact, profile, tick);
    case 'ticked':
      return inTurn(state, Object.values(state), (before, agent) => decayed(before, agent, fact, profile));
    default:
      return unreachable(fact);
  }
}

function recorded(
  state: TrustState,
  fact: Extract<TrustFact, { kind: 'trust_outcome' }>,
  profile: TrustCalibrationProfile,
  tick: number,
): Step<TrustState> {
  const agent = state[fact.agentId];
  if (agent === undefined) return kept(state);
  const isFrozen = profile.config.calibrationMode;
  const actual = trustDelta(fact.outcome, agent.score, profile, fact.blastRadius);
  const proposed = trustDelta(fact.outcome, agent.hypotheticalScore, profile, fact.blastRadius);
  const newScore = isFrozen ? agent.score : clampScore(agent.score + actual.effective, profile);
  const change: TrustChange = {
    agentId: agent.agentId,
    cause: fact.outcome,
    baseDelta: actual.base,
    effectiveDelta: isFrozen ? proposed.effective : actual.effective,
    previousScore: agent.score,
    newScore,
    hypotheticalScore: clampScore(agent.hypotheticalScore + proposed.effective, profile),
    tick,
    at: fact.at,
    reason: fact.reason,
    ...(fact.decisionId === undefined ? {} : { decisionId: fact.decisionId }),
    ...(fact.artifactId === undefined ? {} : { artifactId: fact.artifactId }),
    ...(fact.blastRadius === undefined ? {} : { blastRadius: fact.blastRadius }),
  };
  return changed(state, { ...agent, samples: agent.samples + 1, lastActiveTick: tick, decayed: 0 }, change);
}

function decayed(
  state: TrustState,
  agent: AgentTrust,
  { at, tick }: Extract<TrustFact, { kind: 'ticked' }>,
  profile: TrustCalibrationProfile,
): Step<TrustState> {
  const due = decayPoints(tick - agent.lastActiveTick, profile);
  const points = due - agent.decayed;
  if (points <= 0) return kept(state);
  const isFrozen = profile.config.calibrationMode;
  const newScore = isFrozen ? agent.score : decayedScore(agent.score, points, profile);
  const hypotheticalScore = decayedScore(agent.hypotheticalScore, points, profile);
  const after = { ...agent, decayed: due };
  if (newScore === agent.score && hypotheticalScore === agent.hypotheticalScore) {
    return kept({ ...state, [agent.agentId]: after });
  }
  const delta = isFrozen ? hypotheticalScore - agent.hypotheticalScore : newScore - agent.score;
  return changed(state, after, {
    agentId: agent.agentId,
    cause: 'decay',
    baseDelta: delta,
    effectiveDelta: delta,
    previousScore: agent.score,
    newScore,
    hypotheticalScore,
    tick,
    at,
    reason: `No activity for ${tick - agent.lastActiveTick} ticks`,
  });
}

function changed(state: TrustState, agent: AgentTrust, change: TrustChange): Step<TrustState> {
  const after: AgentTrust = {
    ...agent,
    score: change.newScore,
    hypotheticalScore: change.hypotheticalScore,
    history: [...agent.history, change].slice(-TRUST_HISTORY_KEPT),
  };
  return { state: { ...state, [agent.agentId]: after }, effects: [{ kind: 'save_trust', change }] };
}
