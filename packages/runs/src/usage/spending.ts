import type { RunId, Timestamp } from '@signalbox/model';
import type { TaskId } from '../ids.ts';
import { addUsage } from './stop-check.ts';
import type { UsageRecord, UsageTotal } from './usage.ts';

/** Spending of one day and one model, over runs in one directory. */
export interface Spending extends UsageTotal {
  /** In UTC: `2026-01-31`. */
  readonly day: string;
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly directory?: string | undefined;
}

export interface RunSpent {
  readonly run: RunId;
  readonly tokens: number;
  readonly costMicroUsd: number;
}

export interface SpendingFilter {
  /** Calls of this run, without those of its sub-plans. */
  readonly run?: RunId;
  /** Calls made for this task. */
  readonly task?: TaskId;
  /** Calls from this moment on. */
  readonly since?: Timestamp;
}

/** The spending of one call, for a run in a directory. */
export function spendingOfCall(
  { call: _call, node: _node, task: _task, at, ...spent }: UsageRecord,
  directory: string | undefined,
): Spending {
  return { ...spent, day: at.slice(0, 10), calls: 1, ...(directory !== undefined && { directory }) };
}

/** One sum for each day, directory and model; the latest day first. */
export function sumSpending(parts: readonly Spending[]): readonly Spending[] {
  const sums = new Map<string, Spending>();
  for (const part of parts) {
    const { day, directory = '', provider = '', model = '' } = part;
    const key = JSON.stringify([day, directory, provider, model]);
    const sum = sums.get(key);
    sums.set(key, sum === undefined ? part : { ...sum, ...addUsage(sum, part) });
  }
  return [...sums.values()].toSorted((a, b) => inOrder(b.day, a.day) || inOrder(placeOf(a), placeOf(b)));
}

const placeOf = ({ directory = '', provider = '', model = '' }: Spending) => `${directory}\0${provider}\0${model}`;

export const inOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
