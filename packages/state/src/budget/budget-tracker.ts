import { Bug, type Clock, type ErrorEnvelope, err, failure, type Json, ok, type Result } from '@signalbox/model';
import * as z from 'zod';
import { defineResource } from '../snapshots/resources.ts';
import { snapshotMalformed } from '../snapshots/snapshot-error.ts';
import type { Snapshotable } from '../snapshots/snapshotable.ts';

const amount = z.number().nonnegative();
const usage = z.strictObject({ tokens: amount, costMicros: amount, toolCalls: amount });
/** Cost in millionths of the currency unit, so that sums stay whole. */
export type Usage = Readonly<z.infer<typeof usage>>;

export interface BudgetLimits extends Partial<Usage> {
  readonly wallClockMs?: number;
}

const budgetSnapshot = z.strictObject({ evaluations: z.record(z.string(), usage) });
export type BudgetSnapshot = Readonly<z.infer<typeof budgetSnapshot>>;
export type BudgetError = ErrorEnvelope<'tool/budget'>;

/**
 * Counts what evaluations really spend, and refuses further work once a limit is reached.
 *
 * Spending only grows: restoring a snapshot keeps the larger of both counts, because what was spent is spent.
 */
export interface BudgetTracker extends Snapshotable<BudgetSnapshot> {
  /** Sets what an evaluation has spent so far in all, as providers report it. Smaller numbers than before change nothing. */
  record(evaluation: string, spent: Partial<Usage>): void;
  /** Adds to what an evaluation has spent. */
  add(evaluation: string, more: Partial<Usage>): void;
  /** Whether there is anything left to spend, here and in every ancestor. To be asked before work. */
  check(): Result<void, BudgetError>;
  /** Everything spent here and in all descendants. */
  total(): Usage;
  child(limits?: BudgetLimits): BudgetTracker;
}

export const budget = defineResource<BudgetTracker>('BudgetTracker');

const FIELDS = ['tokens', 'costMicros', 'toolCalls'] as const;
const NOTHING: Usage = { tokens: 0, costMicros: 0, toolCalls: 0 };

export function createBudgetTracker(options: {
  readonly limits: BudgetLimits;
  readonly clock: Clock;
  readonly parent?: Pick<BudgetTracker, 'check'>;
}): BudgetTracker {
  const { limits, clock, parent } = options;
  const startedAt = clock.now();
  const evaluations = new Map<string, Usage>();
  const children: BudgetTracker[] = [];
  const keepLarger = (evaluation: string, spent: Partial<Usage>) => {
    evaluations.set(evaluation, combined(evaluations.get(evaluation) ?? NOTHING, spent, Math.max));
  };
  const total = () =>
    [...evaluations.values(), ...children.map(child => child.total())].reduce(
      (sum, one) => combined(sum, one, (a, b) => a + b),
      NOTHING,
    );

  const tracker: BudgetTracker = {
    record: keepLarger,
    add(evaluation, more) {
      evaluations.set(
        evaluation,
        combined(evaluations.get(evaluation) ?? NOTHING, more, (a, b) => a + b),
      );
    },
    check() {
      const spent = total();
      for (const field of FIELDS) {
        const limit = limits[field];
        if (limit !== undefined && spent[field] >= limit) return err(exhausted(field, spent[field], limit));
      }
      const elapsed = clock.now() - startedAt;
      if (limits.wallClockMs !== undefined && elapsed >= limits.wallClockMs) {
        return err(exhausted('wallClockMs', elapsed, limits.wallClockMs));
      }
      return parent?.check() ?? ok(undefined);
    },
    total,
    child(own = {}) {
      const made = createBudgetTracker({ limits: own, clock, parent: tracker });
      children.push(made);
      return made;
    },
    snapshot: async () => ok({ evaluations: Object.fromEntries(evaluations) }),
    stage: async snapshot =>
      ok({
        lost: [],
        async apply() {
          for (const [evaluation, spent] of Object.entries(snapshot.evaluations)) keepLarger(evaluation, spent);
          return ok(undefined);
        },
        undo: async () => ok(undefined),
        async finish() {},
        async discard() {},
      }),
    encode: async snapshot => snapshot as unknown as Json,
    async decode(data) {
      const parsed = budgetSnapshot.safeParse(data);
      return parsed.success ? ok(parsed.data) : err(snapshotMalformed('a budget must list usage by evaluation'));
    },
    // Spending is no part of what a rollback brings back, so it does not tell two states apart.
    equivalent: () => true,
  };
  return tracker;
}

function combined(base: Usage, other: Partial<Usage>, combine: (a: number, b: number) => number): Usage {
  const sum = { ...NOTHING };
  for (const field of FIELDS) {
    const value = other[field] ?? 0;
    if (!Number.isFinite(value) || value < 0) throw new Bug(`${value} ${field} cannot have been spent`);
    sum[field] = combine(base[field], value);
  }
  return sum;
}

function exhausted(field: string, spent: number, limit: number): BudgetError {
  return failure('tool/budget', {
    message: `the budget of ${limit} ${field} is spent (${spent})`,
    suggestion: 'Raise the budget, or end the evaluation.',
    details: { field, spent, limit },
  });
}
