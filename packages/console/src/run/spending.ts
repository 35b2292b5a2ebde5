import type { WireChunk, WireSpending } from '@signalbox/model';
import { isObject } from '../story/json-object.ts';

/** What calls of models took. */
export type Spending = Pick<WireSpending, 'calls' | 'inputTokens' | 'outputTokens' | 'costMicroUsd'>;

export function sumOf(spent: Iterable<Spending>): Spending {
  const sum = { calls: 0, inputTokens: 0, outputTokens: 0, costMicroUsd: 0 };
  for (const { calls, inputTokens, outputTokens, costMicroUsd } of spent) {
    sum.calls += calls;
    sum.inputTokens += inputTokens;
    sum.outputTokens += outputTokens;
    sum.costMicroUsd += costMicroUsd;
  }
  return sum;
}

/** What one task took, from what its agent kept: each call of a model says it. */
export function spendingOf(chunks: readonly WireChunk[]): Spending {
  return sumOf(
    chunks.flatMap(({ kind, payload }) => {
      if (kind !== 'message' || !isObject(payload) || payload.kind !== 'assistant') return [];
      const usage = isObject(payload.usage) ? payload.usage : {};
      return [
        {
          calls: 1,
          inputTokens: count(usage.inputTokens),
          outputTokens: count(usage.outputTokens),
          costMicroUsd: count(usage.costMicroUsd),
        },
      ];
    }),
  );
}

function count(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}
