import { truncateUtf8 } from '@signalbox/model';
import type { Autonomy } from '../compile/compiled-workflow.ts';
import {
  type Blocker,
  type BlockerPointer,
  type BlockerReport,
  type LoopLimit,
  sortBlockers,
} from '../session/blockers.ts';
import { budgets } from '../session/bounded-text.ts';
import { blockerCodeOf, type GapReason } from '../session/reasons.ts';
import type { ConditionFault } from './condition-value.ts';

/** Why a step cannot simply continue, before the mode decides between a blocker and a gap. */
export interface Reason {
  readonly reason: GapReason;
  readonly pointer: BlockerPointer;
  /** What is wrong. */
  readonly message: string;
  /** How to fix it. */
  readonly suggestedFix: string;
  readonly details?: LoopLimit | undefined;
}

/** A disclosure instead of a blocker: it becomes an unresolved `gap_recorded`. */
export interface Gap {
  readonly severity: 'critical';
  readonly reason: GapReason;
  readonly summary: string;
  readonly details?: LoopLimit | undefined;
}

/** The mode changes what happens, never what it means. */
export function blocks(autonomy: Autonomy): boolean {
  return autonomy !== 'full_auto_never_stop';
}

/**
 * At most ten blockers in a fixed order. The last one counts those that do not fit, and a text that is too long ends in the
 * marker: nothing is dropped silently.
 */
export function blockerReportOf(reasons: readonly [Reason, ...Reason[]]): BlockerReport {
  const blockers = sortBlockers(reasons.map(blockerOf));
  if (blockers.length <= budgets.blockers) return { blockers: [...blockers] };
  const kept = blockers.slice(0, budgets.blockers);
  const last = kept[budgets.blockers - 1];
  const more = `[and ${blockers.length - budgets.blockers} more] `;
  if (last !== undefined) kept[budgets.blockers - 1] = { ...last, message: cut(more + last.message, 'blockerMessage') };
  return { blockers: kept };
}

/** Each gap once, and at most ten: the last one says how many more there are. */
export function gapsOf(reasons: readonly Reason[]): readonly Gap[] {
  const gaps = [...new Map(reasons.map(reason => [reason.message, gapOf(reason)])).values()];
  if (gaps.length <= budgets.blockers) return gaps;
  const kept = gaps.slice(0, budgets.blockers);
  const last = kept[budgets.blockers - 1];
  const more = `[and ${gaps.length - budgets.blockers} more] `;
  if (last !== undefined) kept[budgets.blockers - 1] = { ...last, summary: cut(more + last.summary, 'summary') };
  return kept;
}

function gapOf({ reason, message, details }: Reason): Gap {
  return { severity: 'critical', reason, summary: cut(message, 'summary'), ...(details && { details }) };
}

function blockerOf({ reason, pointer, message, suggestedFix, details }: Reason): Blocker {
  return {
    code: blockerCodeOf(reason),
    pointer,
    message: cut(message, 'blockerMessage'),
    suggestedFix: cut(suggestedFix, 'blockerSuggestedFix'),
    ...(details && { details }),
  };
}

function cut(text: string, budget: 'blockerMessage' | 'blockerSuggestedFix' | 'summary'): string {
  return truncateUtf8(text.toWellFormed(), budgets[budget]);
}

/** A pointer to a context key. Authors choose keys freely; the exact one is in the message. */
export function contextKeyPointer(key: string): BlockerPointer {
  const safe = key
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '_')
    .slice(0, 128);
  return { kind: 'context_key', key: safe === '' ? '_' : safe };
}

/** A condition that cannot be evaluated, as a reason that names the key. */
export function conditionReason(who: string, fault: ConditionFault): Reason {
  return {
    reason: {
      category: 'contract_violation',
      detail: fault.code === 'missing_key' ? 'missing_required_output' : 'invalid_required_output',
    },
    pointer: contextKeyPointer(fault.key),
    message: `${who} cannot tell its condition: ${fault.reason}.`,
    suggestedFix: `Send context with a value for ${fault.key} that the condition can compare.`,
  };
}
