import type { WireChunk, WireSpending } from '@signalbox/model';
import { isObject } from '../story/json-object.ts';

/** The tokens and cost of model calls. */
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

/** The spending of one task, from its transcript: each model call records it. */
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
