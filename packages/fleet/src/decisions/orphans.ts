import { type Resolution, type Timestamp, unreachable } from '@signalbox/model';
import type { InnerFact } from '../inner-facts.ts';
import { kept, type Step } from '../step.ts';
import { changed, closed, logged } from './decision-changes.ts';
import { type DecisionState, type FleetDecision, isWaiting } from './decision-state.ts';

/** An agent was killed: its decisions wait a while for a replacement or a person. Without a grace period the policy applies at once. */
export function orphaned(
  state: DecisionState,
  item: FleetDecision,
  at: Timestamp,
  graceMs: number,
  tick: number,
): Step<DecisionState> {
  if (!isWaiting(item)) {
    if (item.delivery !== 'pending') return kept(state);
    return changed(state, { ...item, delivery: 'impossible' }, []);
  }
  const after: FleetDecision = {
    ...item,
    status: 'open',
    suspendedAt: null,
    // Nobody is kept waiting by it any longer: its time is that of the policy for orphans.
    dueByTick: null,
    orphanUntil: new Date(Date.parse(at) + graceMs).toISOString() as Timestamp,
    badges: [...item.badges.filter(badge => badge !== 'agent_braked' && badge !== 'agent_killed'), 'agent_killed'],
  };
  const doing = { action: 'orphaned', by: 'system', at, tick, reason: 'Its agent was killed.' } as const;
  const due = graceMs === 0 ? [{ kind: 'orphan_due', at, decisionId: item.id } as const] : [];
  return changed(state, after, [logged(after, doing), ...due]);
}

/** The orphans whose grace period is over. */
export function orphansDue({ items }: DecisionState, at: Timestamp): readonly InnerFact[] {
  const now = Date.parse(at);
  return Object.values(items)
    .filter(item => item.orphanUntil !== null && isWaiting(item) && Date.parse(item.orphanUntil) <= now)
    .map(({ id }) => ({ kind: 'orphan_due', at, decisionId: id }) as const);
}

/** Applies the policy to an orphan. Without a replacement, reassigning is triage. */
export function orphanSettled(
  state: DecisionState,
  item: FleetDecision,
  { action, replacement, at }: Extract<InnerFact, { kind: 'orphan_settled' }>,
  tick: number,
): Step<DecisionState> {
  if (item.orphanUntil === null || !isWaiting(item)) return kept(state);
  const by = 'system';
  switch (action) {
    case 'cancel': {
      const reason = 'Its agent was killed, and the policy cancels.';
      if (item.subject.subtype === 'option') {
        return closed(state, item, { status: 'expired', action: 'expired', by, at, tick, reason });
      }
      const resolution: Resolution = { resolutionType: 'reject', rationale: reason, actionKind: 'update' };
      return closed(state, item, { status: 'cancelled', action: 'cancelled', by, at, tick, reason, resolution });
    }
    case 'reassign':
      if (replacement !== null) {
        const after: FleetDecision = {
          ...item,
          orphanUntil: null,
          reassignedTo: replacement,
          badges: [...item.badges.filter(badge => badge !== 'agent_killed'), 'reassigned'],
        };
        const reason = `Agent ${replacement} has the same role and workstream.`;
        return changed(state, after, [
          logged(after, { action: 'reassigned', by, at, tick, reason }),
          {
            kind: 'own_event',
            at,
            event: {
              type: 'status',
              agentId: replacement,
              message: `Decision ${item.id} of agent ${item.agentId} was reassigned to agent ${replacement}.`,
            },
          },
          { kind: 'inject_decision', decision: after, agentId: replacement },
        ]);
      }
      return triaged(state, item, at, tick, 'Its agent was killed, and no agent of its role works in its workstream.');
    case 'triage':
      return triaged(state, item, at, tick, 'Its agent was killed; a person decides.');
    default:
      return unreachable(action);
  }
}

function triaged(
  state: DecisionState,
  item: FleetDecision,
  at: Timestamp,
  tick: number,
  reason: string,
): Step<DecisionState> {
  const after = { ...item, orphanUntil: null };
  return changed(state, after, [logged(after, { action: 'triaged', by: 'system', at, tick, reason })]);
}
