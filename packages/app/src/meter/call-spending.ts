import { costMicroUsd, type Price } from '@signalbox/adapters/metering';
import type { AnswerTap } from './answer-tap.ts';

export interface CallSpending {
  readonly usage: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly cachedTokens: number;
    readonly toolCalls: number;
    readonly costMicroUsd: number;
  };
  /** What the provider did not tell: it is estimated from what went in and came out, or of unknown price. */
  readonly unknown: readonly ('input' | 'output' | 'cost')[];
}

/** What an answer spent, by what came of it. */
export function spentBy(
  tap: AnswerTap,
  {
    input: estimated,
    price,
    isCut,
  }: { readonly input: number; readonly price: Price | undefined; readonly isCut: boolean },
): CallSpending {
  const { input, output, cached = 0, cacheWrite = 0 } = tap.told();
  const tokens = {
    input: input ?? estimated,
    // A stream that is cut told its output as it began.
    output: !isCut && output !== undefined ? output : Math.max(output ?? 0, tap.estimatedOutput()),
    cached: Math.min(cached, input ?? 0),
    cacheWrite: Math.min(cacheWrite, input ?? 0),
  };
  return {
    usage: {
      inputTokens: tokens.input,
      outputTokens: tokens.output,
      cachedTokens: tokens.cached,
      toolCalls: 0,
      costMicroUsd: price === undefined ? 0 : costMicroUsd(tokens, price),
    },
    unknown: [
      ...(input === undefined ? (['input'] as const) : []),
      ...(output === undefined || isCut ? (['output'] as const) : []),
      ...(price === undefined ? (['cost'] as const) : []),
    ],
  };
}

/** The spending of a call that was sent and of whose answer nothing came. */
export function inputOnly(input: number, price: Price | undefined): CallSpending['usage'] {
  const cost = price === undefined ? 0 : costMicroUsd({ input, output: 0, cached: 0, cacheWrite: 0 }, price);
  return { inputTokens: input, outputTokens: 0, cachedTokens: 0, toolCalls: 0, costMicroUsd: cost };
}
