import type { RunId } from '@signalbox/model';
import type { StopConditions } from './stop-conditions.ts';
import type { UsageRecord, UsageTotal } from './usage.ts';

export const NO_USAGE: UsageTotal = {
  calls: 0,
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  toolCalls: 0,
  costMicroUsd: 0,
  wallMs: 0,
};

export function addUsage(total: UsageTotal, part: UsageTotal | UsageRecord): UsageTotal {
  return {
    calls: total.calls + ('calls' in part ? part.calls : 1),
    inputTokens: total.inputTokens + part.inputTokens,
    outputTokens: total.outputTokens + part.outputTokens,
    cachedTokens: total.cachedTokens + part.cachedTokens,
    toolCalls: total.toolCalls + part.toolCalls,
    costMicroUsd: total.costMicroUsd + part.costMicroUsd,
    wallMs: total.wallMs + part.wallMs,
  };
}

/** One run on the way from the caller up to the root of its tree. */
export interface Budgeted {
  readonly run: RunId;
  readonly limits: StopConditions;
  /** What the run and all its descendants spent; undefined where that could not be found out. */
  readonly spent: UsageTotal | undefined;
  /** Since the run was started. */
  readonly elapsedMs: number | undefined;
  readonly stopRequested: boolean;
}

export type StopVerdict =
  | { readonly kind: 'go' }
  | { readonly kind: 'stop'; readonly run: RunId; readonly condition: StopCondition; readonly reason: string };

export type StopCondition = 'stop_requested' | 'wall_clock' | 'tokens' | 'tool_calls' | 'cost';

/**
 * Asked before every call (§7.6.4): the caller's run first, then each run above it. A limit that is reached stops the call,
 * and so does one of which nobody can say how much was spent.
 */
export function checkStop(path: readonly Budgeted[]): StopVerdict {
  for (const budgeted of path) {
    const { run, limits, spent, elapsedMs } = budgeted;
    if (budgeted.stopRequested) {
      return { kind: 'stop', run, condition: 'stop_requested', reason: `Run ${run} was asked to stop.` };
    }
    const tokens = spent && spent.inputTokens + spent.outputTokens;
    const checks: readonly (readonly [StopCondition, number | undefined, number | undefined, string])[] = [
      ['wall_clock', limits.maxWallClockMs, elapsedMs, 'ms of wall clock'],
      ['tokens', limits.maxTotalTokens, tokens, 'tokens'],
      ['tool_calls', limits.maxToolCalls, spent?.toolCalls, 'tool calls'],
      ['cost', limits.maxCostMicroUsd, spent?.costMicroUsd, 'millionths of a dollar'],
    ];
    for (const [condition, limit, used, unit] of checks) {
      if (limit === undefined) continue;
      // A count that is not a number is not below any limit.
      if (used !== undefined && used < limit) continue;
      const amount = used === undefined ? 'an unknown number' : String(used);
      return { kind: 'stop', run, condition, reason: `Run ${run} used ${amount} of its ${limit} ${unit}.` };
    }
  }
  return { kind: 'go' };
}
