import type { Resolution, TrustOutcome } from '@signalbox/model';
import type { AnswerOutcome, Effect } from '../effects.ts';
import type { Fact } from '../facts.ts';
import type { InnerFact } from '../inner-facts.ts';
import type { Step } from '../step.ts';
import { closed } from './decision-changes.ts';
import { type DecisionState, type FleetDecision, isWaiting, responsibleFor } from './decision-state.ts';

type Answered = Extract<Fact, { kind: 'decision_answered' }>;

/** A person answers. The first answer that fits counts; every later one gets its outcome back (R7). */
export function answered(state: DecisionState, fact: Answered, tick: number): Step<DecisionState> {
  const item = state.items[fact.decisionId];
  const refusal = refusalOf(item, fact);
  if (item === undefined || refusal !== undefined) {
    return { state, effects: [settled(fact, refusal ?? { outcome: 'unknown' })] };
  }
  const { resolution, by, at } = fact;
  const outcome = trustOutcomeOf(item, resolution);
  const trust: InnerFact[] = outcome === undefined ? [] : [trustFact(item, outcome, fact)];
  return closed(
    state,
    item,
    {
      status: 'answered',
      action: 'answered',
      by,
      at,
      tick,
      reason: resolution.rationale === '' ? 'A person answered.' : resolution.rationale,
      resolution,
    },
    [settled(fact, { outcome: 'accepted', resolution }), ...trust, ...blanketApproval(item, resolution, fact)],
  );
}

/** A person takes a decision away without an answer: its agent is gone, or it no longer matters. */
export function dismissed(
  state: DecisionState,
  fact: Extract<Fact, { kind: 'decision_dismissed' }>,
  tick: number,
): Step<DecisionState> {
  const item = state.items[fact.decisionId];
  if (item === undefined || !isWaiting(item)) return { state, effects: [] };
  const { by, at, reason } = fact;
  const resolution: Resolution = { resolutionType: 'reject', rationale: reason, actionKind: 'update' };
  return closed(state, item, { status: 'cancelled', action: 'cancelled', by, at, tick, reason, resolution });
}

function refusalOf(item: FleetDecision | undefined, fact: Answered): AnswerOutcome | undefined {
  if (item === undefined) return { outcome: 'unknown' };
  if (!isWaiting(item)) {
    return {
      outcome: 'closed',
      status: item.status,
      ...(item.resolution === undefined ? {} : { resolution: item.resolution }),
    };
  }
  if (fact.by === item.agentId || fact.by === item.reassignedTo) return { outcome: 'forbidden' };
  if (fact.proposalHash !== undefined && fact.proposalHash !== item.proposalHash) return { outcome: 'void' };
  const problem = unfit(item, fact.resolution);
  return problem === undefined ? undefined : { outcome: 'unfit', problem };
}

/** Why an answer does not fit its question. */
function unfit({ subject, requiresRationale }: FleetDecision, resolution: Resolution): string | undefined {
  const { resolutionType, chosenOptionId, modifiedArgs, rationale } = resolution;
  if (requiresRationale && rationale.trim() === '') return 'This decision needs a rationale.';
  if (resolutionType === 'reject') return undefined;
  if (subject.subtype === 'tool_approval') {
    if (resolutionType === 'choose_option') return 'A tool call is approved, modified or rejected.';
    return resolutionType === 'modify' && modifiedArgs === undefined
      ? 'A modified call needs modifiedArgs.'
      : undefined;
  }
  if (resolutionType !== 'choose_option') return 'Choose one of the options, or reject them.';
  return subject.options.some(({ id }) => id === chosenOptionId)
    ? undefined
    : `There is no option ${chosenOptionId ?? '(none)'}.`;
}

/** What an answer says about the agent; undefined if nothing. */
function trustOutcomeOf({ subject, isOwn }: FleetDecision, resolution: Resolution): TrustOutcome | undefined {
  if (isOwn) return undefined;
  if (subject.subtype === 'tool_approval') {
    return outcomeOfToolAnswer(resolution);
  }
  if (resolution.resolutionType !== 'choose_option' || subject.recommendedOptionId === undefined) return undefined;
  return resolution.chosenOptionId === subject.recommendedOptionId
    ? 'human_approves_recommended_option'
    : 'human_picks_non_recommended';
}

export function outcomeOfToolAnswer({ resolutionType, alwaysApprove }: Resolution): TrustOutcome {
  switch (resolutionType) {
    case 'approve':
      return alwaysApprove === true ? 'human_approves_always' : 'human_approves_tool_call';
    case 'modify':
      return 'human_modifies_tool_args';
    case 'reject':
    case 'choose_option':
      return 'human_rejects_tool_call';
  }
}

export function trustFact(
  item: FleetDecision,
  outcome: TrustOutcome,
  { at, reason }: { at: Answered['at']; reason?: string },
): InnerFact {
  return {
    kind: 'trust_outcome',
    at,
    agentId: responsibleFor(item),
    outcome,
    blastRadius: item.blastRadius,
    decisionId: item.id,
    reason: reason ?? 'A person answered its decision.',
  };
}

function blanketApproval(item: FleetDecision, resolution: Resolution, { at }: Answered): readonly InnerFact[] {
  if (item.subject.subtype !== 'tool_approval') return [];
  if (resolution.resolutionType !== 'approve' || resolution.alwaysApprove !== true) return [];
  return [
    { kind: 'tool_allowed', at, agentId: responsibleFor(item), session: item.session, toolName: item.subject.toolName },
  ];
}

function settled({ decisionId }: Answered, outcome: AnswerOutcome): Effect {
  return { kind: 'answer_settled', decisionId, ...outcome };
}
