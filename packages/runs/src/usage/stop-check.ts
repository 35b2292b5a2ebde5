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

/** What a limit over more than one run is about: a day in UTC, a project, or a project on a day. */
export type Ceiling =
  | { readonly scope: 'day'; readonly day: string }
  | { readonly scope: 'project'; readonly directory: string }
  | { readonly scope: 'project-day'; readonly directory: string; readonly day: string };

/** One run on the path from the caller to the root of its tree, or a ceiling over that root. */
export interface Budgeted {
  /** Of a ceiling: the root. */
  readonly run: RunId;
  readonly ceiling?: Ceiling | undefined;
  readonly limits: StopConditions;
  /** Spending of the run and all its descendants; undefined if unknown. */
  readonly spent: UsageTotal | undefined;
  /** Since the run was started. */
  readonly elapsedMs: number | undefined;
  readonly stopRequested: boolean;
  /** Why its limits are unknown: nothing is let through. */
  readonly fault?: string | undefined;
}

/** The most that a call may spend. */
export interface CallEstimate {
  readonly tokens: number;
  /** Undefined if the price is unknown. */
  readonly costMicroUsd?: number | undefined;
  /** The call can make do with less, down to this: it is told how much is left. */
  readonly least?: Omit<CallEstimate, 'least'> | undefined;
}

export type StopVerdict =
  | { readonly kind: 'go'; readonly left?: Allowance }
  | {
      readonly kind: 'stop';
      readonly run: RunId;
      readonly condition: StopCondition;
      readonly reason: string;
      /** The reached limit; absent if the run was asked to stop. */
      readonly reached?: ReachedLimit;
    };

type StopCondition = 'stop_requested' | 'unknown' | 'wall_clock' | 'tokens' | 'tool_calls' | 'cost';

/** What may still be spent, over the run and its ancestors; unlimited amounts are absent. */
export interface Allowance {
  readonly tokens?: number;
  readonly costMicroUsd?: number;
}

export interface ReachedLimit {
  readonly name: LimitName;
  /** Absent for a limit of a run. */
  readonly ceiling?: Ceiling;
  readonly allowed: number;
  /** Undefined if unknown. */
  readonly used?: number;
  /** What a call may take that does not fit in what is left; absent if nothing is left. */
  readonly wanted?: number;
}

/** Limits on a whole run. The retry limit applies to each task. */
export type LimitName = Exclude<keyof StopConditions, 'maxRetriesPerTask'>;

interface Check {
  readonly condition: StopCondition;
  readonly name: LimitName;
  readonly used: number | undefined;
  readonly unit: string;
}

/**
 * Checked before every call (§7.6.4): the caller's run first, then each ancestor. A reached limit stops the call, and so does one whose
 * spending is unknown.
 */
export function checkStop(path: readonly Budgeted[]): StopVerdict {
  let left: Allowance = {};
  for (const budgeted of path) {
    const { run, limits, spent, elapsedMs } = budgeted;
    if (budgeted.stopRequested) {
      return { kind: 'stop', run, condition: 'stop_requested', reason: `Run ${run} was asked to stop.` };
    }
    if (budgeted.fault !== undefined) return { kind: 'stop', run, condition: 'unknown', reason: budgeted.fault };
    const tokens = spent && spent.inputTokens + spent.outputTokens;
    const checks: readonly Check[] = [
      { condition: 'wall_clock', name: 'maxWallClockMs', used: elapsedMs, unit: 'ms of wall clock' },
      { condition: 'tokens', name: 'maxTotalTokens', used: tokens, unit: 'tokens' },
      { condition: 'tool_calls', name: 'maxToolCalls', used: spent?.toolCalls, unit: 'tool calls' },
      { condition: 'cost', name: 'maxCostMicroUsd', used: spent?.costMicroUsd, unit: 'millionths of a dollar' },
    ];
    for (const { condition, name, used, unit } of checks) {
      const allowed = limits[name];
      if (allowed === undefined) continue;
      // NaN is not below any limit.
      if (used !== undefined && used < allowed) {
        left = allowance(left, condition, allowed - used);
        continue;
      }
      const amount = used === undefined ? 'an unknown number' : String(used);
      const reason = `${usedWords(budgeted, amount, allowed, unit)}.`;
      const known = used === undefined || Number.isNaN(used) ? {} : { used };
      return { kind: 'stop', run, condition, reason, reached: { name, ...ceilingOf(budgeted), allowed, ...known } };
    }
  }
  return Object.keys(left).length === 0 ? { kind: 'go' } : { kind: 'go', left };
}

type RoomVerdict =
  | StopVerdict
  /** The call fits only if calls under way spend less than they may. */
  | { readonly kind: 'wait' };

/**
 * Whether a call fits in what is left, besides what calls under way may spend: no number of parallel calls passes a limit together. A call
 * that would not fit even without them is stopped at its limit.
 */
export function checkRoom(
  path: readonly (Budgeted & { readonly reserved: CallEstimate })[],
  wanted: CallEstimate,
): RoomVerdict {
  const verdict = checkStop(path);
  if (verdict.kind === 'stop') return verdict;
  let { left } = verdict;
  let mustWait = false;
  const needed = wanted.least ?? wanted;
  for (const budgeted of path) {
    const { run, limits, spent, reserved } = budgeted;
    const checks = [
      {
        ...({ condition: 'tokens', name: 'maxTotalTokens', unit: 'tokens' } as const),
        used: (spent?.inputTokens ?? 0) + (spent?.outputTokens ?? 0),
        reserved: reserved.tokens,
        wanted: needed.tokens,
      },
      {
        ...({ condition: 'cost', name: 'maxCostMicroUsd', unit: 'millionths of a dollar' } as const),
        used: spent?.costMicroUsd ?? 0,
        reserved: reserved.costMicroUsd ?? 0,
        wanted: needed.costMicroUsd ?? Number.POSITIVE_INFINITY,
      },
    ];
    for (const { condition, name, unit, used, reserved: held, wanted: more } of checks) {
      const allowed = limits[name];
      if (allowed === undefined) continue;
      if (used + more > allowed) {
        const amount = Number.isFinite(more) ? String(more) : 'an unknown number';
        const reason = `${usedWords(budgeted, String(used), allowed, unit)}, and the next call ${wanted.least === undefined ? 'may take' : 'takes at least'} ${amount}.`;
        const known = Number.isFinite(more) ? { wanted: more } : {};
        const reached = { name, ...ceilingOf(budgeted), allowed, used, ...known };
        return { kind: 'stop', run, condition, reason, reached };
      }
      if (used + held + more > allowed) mustWait = true;
      left = allowance(left ?? {}, condition, allowed - used - held);
    }
  }
  if (mustWait) return { kind: 'wait' };
  return left === undefined ? { kind: 'go' } : { kind: 'go', left };
}

function usedWords({ run, ceiling }: Budgeted, used: string, allowed: number, unit: string): string {
  switch (ceiling?.scope) {
    case undefined:
      return `Run ${run} used ${used} of its ${allowed} ${unit}`;
    case 'day':
      return `All runs together used ${used} of the ${allowed} ${unit} for ${ceiling.day} (UTC)`;
    case 'project':
      return `Project ${ceiling.directory} used ${used} of its ${allowed} ${unit}`;
    case 'project-day':
      return `Project ${ceiling.directory} used ${used} of its ${allowed} ${unit} for ${ceiling.day} (UTC)`;
  }
}

const ceilingOf = ({ ceiling }: Budgeted) => (ceiling === undefined ? {} : { ceiling });

/**
 * Identifies what calls reserve in. A ceiling of a day has one key for all days: what is reserved before midnight may be spent after it, and so
 * stands in the way of both.
 */
export function budgetKey({ run, ceiling }: Pick<Budgeted, 'run' | 'ceiling'>): string {
  if (ceiling === undefined) return run;
  return ceiling.scope === 'day' ? 'day' : `${ceiling.scope} ${ceiling.directory}`;
}

/** The smallest allowance on the path to the root. */
function allowance(left: Allowance, condition: StopCondition, more: number): Allowance {
  if (condition === 'tokens') return { ...left, tokens: Math.min(more, left.tokens ?? more) };
  if (condition === 'cost') return { ...left, costMicroUsd: Math.min(more, left.costMicroUsd ?? more) };
  return left;
}
