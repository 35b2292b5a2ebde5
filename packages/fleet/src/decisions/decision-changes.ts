import type { DecisionAction, DecisionLogEntry, DecisionStatus, Resolution, Timestamp } from '@signalbox/model';
import type { Effect } from '../effects.ts';
import type { Fact } from '../facts.ts';
import type { InnerFact } from '../inner-facts.ts';
import { withSeen } from '../pipeline/seen-ids.ts';
import { kept, type Step } from '../step.ts';
import { scoreOf } from './decision-score.ts';
import { CLOSED_KEPT, type DecisionState, type FleetDecision, isWaiting, responsibleFor } from './decision-state.ts';

/** Who did something to a decision, when and why. */
export interface Doing {
  readonly action: DecisionAction;
  readonly by: string;
  readonly at: Timestamp;
  readonly tick: number;
  readonly reason: string;
}

/** The decision as it is now, with its place in the queue. */
export function changed(
  state: DecisionState,
  item: FleetDecision,
  effects: readonly (Effect | InnerFact)[],
): Step<DecisionState> {
  const scored = { ...item, score: scoreOf(item) };
  return {
    state: { ...state, items: { ...state.items, [item.id]: scored } },
    effects: [{ kind: 'save_decision', decision: scored }, ...effects],
  };
}

export function logged(item: FleetDecision, doing: Doing, resolution?: Resolution): Effect {
  const entry: DecisionLogEntry = {
    decisionId: item.id,
    agentId: item.agentId,
    ...doing,
    ...(resolution === undefined ? {} : { resolution }),
    ...(item.reassignedTo === undefined ? {} : { reassignedTo: item.reassignedTo }),
  };
  return { kind: 'audit', entry: { subject: 'decision', ...entry } };
}

export interface Closing extends Doing {
  readonly status: Exclude<DecisionStatus, 'open' | 'suspended'>;
  /** The agent is told this, if it can be told anything. */
  readonly resolution?: Resolution;
}

/**
 * Ends a decision. What the agent is told is committed with it and delivered afterwards; while its agent is stopped the delivery waits,
 * and an agent that was killed cannot be told.
 */
export function closed(
  state: DecisionState,
  item: FleetDecision,
  { status, resolution, ...doing }: Closing,
  effects: readonly (Effect | InnerFact)[] = [],
): Step<DecisionState> {
  const isGone = item.badges.includes('agent_killed') && item.reassignedTo === undefined;
  const delivery = resolution === undefined || item.isOwn ? 'none' : isGone ? 'impossible' : 'pending';
  const after: FleetDecision = {
    ...item,
    status,
    delivery,
    suspendedAt: null,
    orphanUntil: null,
    closedBy: doing.by,
    closedAtTick: doing.tick,
    ...(resolution === undefined ? {} : { resolution }),
  };
  const saved = changed(state, after, [
    logged(after, doing, resolution),
    ...(delivery === 'pending' && item.status !== 'suspended' ? deliveryOf(after) : []),
    {
      kind: 'decision_closed',
      at: doing.at,
      decisionId: item.id,
      agentId: responsibleFor(item),
      status,
      ...(resolution === undefined ? {} : { resolution }),
    },
    ...effects,
  ]);
  return { state: withoutOldest(saved.state), effects: saved.effects };
}

/** The answer on its way. Only the session that asked knows the decision by its id; any other agent is told in words. */
export function deliveryOf(item: FleetDecision): readonly Effect[] {
  const { id, resolution, session, reassignedTo } = item;
  if (resolution === undefined) return [];
  return [
    {
      kind: 'deliver_resolution',
      decisionId: id,
      agentId: responsibleFor(item),
      session,
      resolution,
      isReassigned: reassignedTo !== undefined,
    },
  ];
}

/** The agent has its answer, or needs none any longer. */
export function delivered(
  state: DecisionState,
  { decisionId, agentId, at }: Pick<Extract<Fact, { kind: 'resolution_delivered' }>, 'decisionId' | 'agentId' | 'at'>,
  reason: string,
  tick: number,
): Step<DecisionState> {
  const item = state.items[decisionId];
  if (item === undefined || item.delivery !== 'pending' || responsibleFor(item) !== agentId) return kept(state);
  const after = { ...item, delivery: 'done' as const };
  return changed(state, after, [logged(after, { action: 'delivered', by: agentId, at, tick, reason })]);
}

/** Closed decisions that nothing is owed to make room; their ids stay known. */
function withoutOldest(state: DecisionState): DecisionState {
  const ended = Object.values(state.items).filter(item => !isWaiting(item) && item.delivery !== 'pending');
  if (ended.length <= CLOSED_KEPT) return state;
  const oldest = ended.sort((a, b) => a.number - b.number).slice(0, ended.length - CLOSED_KEPT);
  const items = { ...state.items };
  let { forgotten } = state;
  for (const { id } of oldest) {
    delete items[id];
    forgotten = withSeen(forgotten, id);
  }
  return { ...state, items, forgotten };
}
