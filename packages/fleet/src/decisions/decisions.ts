import { type AgentId, type ControlMode, type Timestamp, unreachable } from '@signalbox/model';
import type { Fact } from '../facts.ts';
import type { InnerFact } from '../inner-facts.ts';
import { inTurn, kept, type Step } from '../step.ts';
import { answered, dismissed } from './answer.ts';
import { changed, delivered, deliveryOf, logged } from './decision-changes.ts';
import { type DecisionState, type FleetDecision, isWaiting } from './decision-state.ts';
import { orphaned, orphanSettled, orphansDue } from './orphans.ts';
import { raised } from './raise.ts';
import { timedOut } from './timeout.ts';

export type DecisionFact =
  | Extract<
      Fact,
      { kind: 'decision_answered' | 'decision_dismissed' | 'resolution_delivered' | 'time_passed' | 'fleet_restarted' }
    >
  | Extract<
      InnerFact,
      {
        kind:
          | 'decision_raised'
          | 'answer_moot'
          | 'ticked'
          | 'timeout_fired'
          | 'agents_stopped'
          | 'agents_released'
          | 'agent_gone'
          | 'agent_back'
          | 'orphan_settled';
      }
    >;

export interface DecisionConfig {
  readonly mode: ControlMode;
  /** How long the decisions of a killed agent wait before the policy applies. */
  readonly orphanGraceMs: number;
}

/**
 * The decisions of agents, from the question to the acknowledged answer.
 *
 * D1  A decision is answered once, and only the first answer is delivered; it is delivered until it is acknowledged (R7).
 * D2  An answer goes to the agent that is responsible, and to no other one.
 * D3  In orchestrator mode only a person answers: no timeout fires (R7).
 * D4  A timeout never approves what `alwaysEscalate` names (R40).
 * D5  A brake suspends decisions. Only an explicit kill makes orphans (R40).
 * D6  Every step is in the audit.
 */
export function stepDecisions(
  state: DecisionState,
  fact: DecisionFact,
  config: DecisionConfig,
  tick: number,
): Step<DecisionState> {
  switch (fact.kind) {
    case 'decision_raised':
      return raised(state, fact, tick);
    case 'decision_answered':
      return answered(state, fact, tick);
    case 'decision_dismissed':
      return dismissed(state, fact, tick);
    case 'resolution_delivered':
      return delivered(state, fact, 'The agent acknowledged the answer.', tick);
    case 'answer_moot':
      return delivered(state, fact, 'The agent no longer waits for it.', tick);
    case 'ticked': {
      if (config.mode === 'orchestrator') return kept(state);
      const due = Object.values(state.items).filter(item => isDue(item, tick));
      return { state, effects: due.map(({ id }) => ({ kind: 'timeout_due', at: fact.at, decisionId: id }) as const) };
    }
    case 'timeout_fired': {
      const item = state.items[fact.decisionId];
      // A mode that changed with the same fact, or another timeout, may have come first.
      if (item === undefined || !isDue(item, tick) || config.mode === 'orchestrator') return kept(state);
      return timedOut(state, item, fact, tick);
    }
    case 'time_passed':
      return { state, effects: orphansDue(state, fact.at) };
    case 'agents_stopped':
      return ofAgents(state, fact.agentIds, (before, item) => suspended(before, item, fact.at, fact.reason, tick));
    case 'agents_released':
      return ofAgents(state, fact.agentIds, (before, item) => resumed(before, item, fact.at, fact.reason, tick));
    case 'agent_back':
      return ofAgents(state, [fact.agentId], (before, item) => back(before, item, fact.at, tick));
    case 'agent_gone':
      return ofAgents(state, [fact.agentId], (before, item) =>
        orphaned(before, item, fact.at, config.orphanGraceMs, tick),
      );
    case 'orphan_settled': {
      const item = state.items[fact.decisionId];
      return item === undefined ? kept(state) : orphanSettled(state, item, fact, tick);
    }
    case 'fleet_restarted':
      return {
        state,
        effects: Object.values(state.items).flatMap(item => (item.delivery === 'pending' ? deliveryOf(item) : [])),
      };
    default:
      return unreachable(fact);
  }
}

function isDue({ status, dueByTick }: FleetDecision, tick: number): boolean {
  return status === 'open' && dueByTick !== null && tick >= dueByTick;
}

/** The decisions that these agents are responsible for, and those that they raised and nobody took over. */
function ofAgents(
  state: DecisionState,
  agentIds: readonly AgentId[],
  next: (state: DecisionState, item: FleetDecision) => Step<DecisionState>,
): Step<DecisionState> {
  const items = Object.values(state.items).filter(item => agentIds.includes(item.reassignedTo ?? item.agentId));
  return inTurn(state, items, next);
}

function suspended(
  state: DecisionState,
  item: FleetDecision,
  at: Timestamp,
  reason: string,
  tick: number,
): Step<DecisionState> {
  if (item.status !== 'open') return kept(state);
  const badges = item.badges.includes('agent_braked') ? item.badges : [...item.badges, 'agent_braked' as const];
  const after = { ...item, status: 'suspended' as const, suspendedAt: tick, badges };
  return changed(state, after, [logged(after, { action: 'suspended', by: 'system', at, tick, reason })]);
}

/** Its timeout goes on where it stood. */
function resumed(
  state: DecisionState,
  item: FleetDecision,
  at: Timestamp,
  reason: string,
  tick: number,
): Step<DecisionState> {
  if (item.status !== 'suspended') {
    return item.delivery === 'pending' ? { state, effects: deliveryOf(item) } : kept(state);
  }
  const paused = tick - (item.suspendedAt ?? tick);
  const after: FleetDecision = {
    ...item,
    status: 'open',
    suspendedAt: null,
    badges: item.badges.filter(badge => badge !== 'agent_braked'),
    dueByTick: item.dueByTick === null ? null : item.dueByTick + paused,
  };
  return changed(state, after, [logged(after, { action: 'resumed', by: 'system', at, tick, reason })]);
}

/** The agent runs again, in a new session: its decisions wait again, and answers that it missed reach it. */
function back(state: DecisionState, item: FleetDecision, at: Timestamp, tick: number): Step<DecisionState> {
  const isOrphan = item.badges.includes('agent_killed') && isWaiting(item);
  const found: FleetDecision = isOrphan
    ? { ...item, orphanUntil: null, badges: item.badges.filter(badge => badge !== 'agent_killed') }
    : item;
  const missed = found.delivery === 'impossible' ? { ...found, delivery: 'pending' as const } : found;
  const adopted = missed === item ? kept(state) : changed(state, missed, []);
  const next = resumed(adopted.state, missed, at, 'Its agent runs again.', tick);
  return { state: next.state, effects: [...adopted.effects, ...next.effects] };
}
