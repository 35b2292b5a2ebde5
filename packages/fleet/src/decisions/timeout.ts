import {
  DEFAULT_MAX_EXTENSIONS,
  type Resolution,
  type Severity,
  severity,
  severityRank,
  unreachable,
} from '@signalbox/model';
import type { InnerFact } from '../inner-facts.ts';
import type { Step } from '../step.ts';
import { trustFact } from './answer.ts';
import { changed, closed, type Doing, logged } from './decision-changes.ts';
import type { DecisionState, FleetDecision } from './decision-state.ts';
import { approval } from './raise.ts';

type Fired = Extract<InnerFact, { kind: 'timeout_fired' }>;

/** The next deadline of a decision whose agent set the first one itself. */
const FALLBACK_TICKS = 50;

/** What happens to a decision that nobody answered in time. */
export function timedOut(state: DecisionState, item: FleetDecision, fact: Fired, tick: number): Step<DecisionState> {
  const { onTimeout } = item.timeout;
  switch (onTimeout) {
    case 'auto_recommend':
      return recommended(state, item, fact, tick);
    case 'escalate':
      return escalated(state, item, fact, tick);
    case 'cancel':
      return cancelled(state, item, fact, tick, 'Nobody answered in time.');
    case 'extend':
      return item.extensions < (item.timeout.maxExtensions ?? DEFAULT_MAX_EXTENSIONS)
        ? extended(state, item, fact, tick)
        : escalated(state, item, fact, tick);
    default:
      return unreachable(onTimeout);
  }
}

function recommended(state: DecisionState, item: FleetDecision, fact: Fired, tick: number): Step<DecisionState> {
  const answer = answerOf(item, fact);
  const doing = { by: 'timeout', at: fact.at, tick };
  if (typeof answer === 'string') {
    const after = withBadge({ ...item, dueByTick: null });
    return changed(state, after, [logged(after, { ...doing, action: 'timed_out', reason: answer })]);
  }
  return closed(
    state,
    item,
    { ...doing, status: 'answered', action: 'timed_out', reason: answer.rationale, resolution: answer },
    [trustFact(item, 'decision_auto_resolved', { at: fact.at, reason: 'Nobody answered its decision in time.' })],
  );
}

/** The answer that the agent recommends, or why there is none: the decision waits for a person then. */
function answerOf({ subject }: FleetDecision, { isAlwaysAsked }: Fired): Resolution | string {
  if (subject.subtype === 'tool_approval') {
    return isAlwaysAsked
      ? 'Nobody answered in time. A person must: calls like this are always escalated.'
      : approval('Nobody answered in time; the policy approves.');
  }
  if (subject.recommendedOptionId === undefined) return 'Nobody answered in time, and no option is recommended.';
  return {
    resolutionType: 'choose_option',
    chosenOptionId: subject.recommendedOptionId,
    rationale: "Nobody answered in time; the policy takes the agent's recommendation.",
    actionKind: 'update',
  };
}

function escalated(state: DecisionState, item: FleetDecision, fact: Fired, tick: number): Step<DecisionState> {
  const higher: Severity | undefined = severity.options[severityRank(item.severity) + 1];
  if (higher === undefined)
    return cancelled(state, item, fact, tick, 'Nobody answered in time, at the highest severity.');
  const after = withBadge({ ...item, severity: higher, dueByTick: nextDue(item, tick) });
  return changed(state, after, [
    logged(after, doing(fact, tick, 'escalated', `Nobody answered in time; severity is ${higher} now.`)),
  ]);
}

function extended(state: DecisionState, item: FleetDecision, fact: Fired, tick: number): Step<DecisionState> {
  const after = { ...item, extensions: item.extensions + 1, dueByTick: nextDue(item, tick) };
  return changed(state, after, [
    logged(after, doing(fact, tick, 'extended', `Nobody answered in time; extension ${after.extensions}.`)),
  ]);
}

function cancelled(
  state: DecisionState,
  item: FleetDecision,
  fact: Fired,
  tick: number,
  reason: string,
): Step<DecisionState> {
  const resolution: Resolution = { resolutionType: 'reject', rationale: reason, actionKind: 'update' };
  const action = doing(fact, tick, 'cancelled', reason);
  return closed(state, item, { ...action, status: 'cancelled', resolution });
}

function doing(fact: Fired, tick: number, action: Doing['action'], reason: string): Doing {
  return { action, by: 'timeout', at: fact.at, tick, reason };
}

function nextDue(item: FleetDecision, tick: number): number {
  return tick + (item.timeout.timeoutTicks ?? FALLBACK_TICKS);
}

function withBadge(item: FleetDecision): FleetDecision {
  return item.badges.includes('timed_out') ? item : { ...item, badges: [...item.badges, 'timed_out'] };
}
