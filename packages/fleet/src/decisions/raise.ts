import {
  type AgentEvent,
  type DecisionSubject,
  digestOf,
  type Json,
  portableHasher,
  type Resolution,
} from '@signalbox/model';
import type { InnerFact } from '../inner-facts.ts';
import { hasSeen } from '../pipeline/seen-ids.ts';
import { kept, type Step } from '../step.ts';
import { changed, closed, deliveryOf, logged } from './decision-changes.ts';
import { type DecisionState, type FleetDecision, isWaiting } from './decision-state.ts';

type Raised = Extract<InnerFact, { kind: 'decision_raised' }>;

/**
 * An agent asks. What the rules allow is approved at once; everything else waits for a person. A question that is asked again is the same
 * question: it waits, or gets its answer again. If it changed while it waited, answers to what it was are void.
 */
export function raised(state: DecisionState, fact: Raised, tick: number): Step<DecisionState> {
  const { event } = fact;
  const before = state.items[event.decisionId];
  if (before === undefined) {
    return hasSeen(state.forgotten, event.decisionId) ? refused(state, fact) : asked(state, fact, tick);
  }
  if (before.agentId !== event.agentId) return refused(state, fact);
  if (!isWaiting(before)) {
    // The agent asks again: a new session after a crash, for example.
    const again = {
      ...before,
      session: fact.session,
      delivery: before.resolution === undefined || before.isOwn ? before.delivery : ('pending' as const),
    };
    return changed(state, again, again.delivery === 'pending' ? deliveryOf(again) : []);
  }
  const subject = subjectOf(fact);
  const proposalHash = hashOf(subject);
  if (proposalHash === before.proposalHash) {
    return before.session === fact.session ? kept(state) : changed(state, { ...before, session: fact.session }, []);
  }
  const after = { ...before, ...riskOf(fact), subject, proposalHash, session: fact.session };
  return changed(state, after, [
    logged(after, {
      action: 'raised',
      by: event.agentId,
      at: fact.at,
      tick,
      reason: 'The agent changed its proposal.',
    }),
  ]);
}

function asked(state: DecisionState, fact: Raised, tick: number): Step<DecisionState> {
  const { event, at, verdict } = fact;
  const subject = subjectOf(fact);
  const item: FleetDecision = {
    id: event.decisionId,
    agentId: event.agentId,
    workstream: fact.workstream,
    subject,
    ...riskOf(fact),
    status: fact.isBraked ? 'suspended' : 'open',
    badges: fact.isBraked ? ['agent_braked'] : [],
    raisedAtTick: tick,
    raisedAt: at,
    dueByTick: event.dueByTick === undefined ? dueAfter(fact, tick) : event.dueByTick,
    extensions: 0,
    score: 0,
    session: fact.session,
    isOwn: fact.isOwn,
    proposalHash: hashOf(subject),
    number: state.raised,
    timeout: fact.timeout,
    suspendedAt: fact.isBraked ? tick : null,
    orphanUntil: null,
    delivery: 'none',
  };
  const counted = { ...state, raised: state.raised + 1 };
  const waits = changed(counted, item, [
    logged(item, { action: 'raised', by: event.agentId, at, tick, reason: verdict.reason }),
  ]);
  if (verdict.asks) return waits;
  const allowed = closed(waits.state, item, {
    status: 'answered',
    action: 'auto_approved',
    by: 'system',
    at,
    tick,
    reason: verdict.reason,
    resolution: approval(verdict.reason),
  });
  return { state: allowed.state, effects: [...waits.effects, ...allowed.effects] };
}

function dueAfter({ timeout }: Raised, tick: number): number | null {
  return timeout.timeoutTicks === null ? null : tick + timeout.timeoutTicks;
}

/** An answer that no person gave. */
export function approval(rationale: string): Resolution {
  return { resolutionType: 'approve', rationale, actionKind: 'update' };
}

function subjectOf({ event }: Raised): DecisionSubject {
  if (event.subtype === 'tool_approval') {
    return { subtype: event.subtype, toolName: event.toolName, toolArgs: event.toolArgs };
  }
  const { subtype, title, summary, options, recommendedOptionId } = event;
  return { subtype, title, summary, options, ...(recommendedOptionId === undefined ? {} : { recommendedOptionId }) };
}

function hashOf(subject: DecisionSubject): FleetDecision['proposalHash'] {
  // Plain data by its schema; its optional members keep the type from expressing that.
  return digestOf(portableHasher, subject as unknown as Json);
}

function riskOf({
  risk,
}: Raised): Pick<
  FleetDecision,
  'severity' | 'confidence' | 'blastRadius' | 'affectedArtifactIds' | 'requiresRationale'
> {
  const { severity, confidence, blastRadius, affectedArtifactIds, requiresRationale } = risk;
  return { severity, confidence, blastRadius, affectedArtifactIds, requiresRationale };
}

/** The id is another decision's: the agent is told no, and nothing happens to the other one. */
function refused(state: DecisionState, { event, at, session }: Raised): Step<DecisionState> {
  const message = `Decision ${event.decisionId} of agent ${event.agentId} has the id of an earlier decision. It was rejected.`;
  const fault: AgentEvent = {
    type: 'error',
    agentId: event.agentId,
    severity: 'high',
    message,
    recoverable: true,
    errorCode: 'decision_id_used',
    category: 'internal',
  };
  const resolution: Resolution = { resolutionType: 'reject', rationale: message, actionKind: 'update' };
  return {
    state,
    effects: [
      { kind: 'own_event', at, event: fault },
      {
        kind: 'deliver_resolution',
        decisionId: event.decisionId,
        agentId: event.agentId,
        session,
        resolution,
        isReassigned: false,
      },
    ],
  };
}
