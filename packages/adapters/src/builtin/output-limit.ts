import type { Allowance, CallEstimate } from '@signalbox/runs';
import { costMicroUsd, type Price } from './prices.ts';

/** Providers reject requests below this. */
const LEAST = 16;
/** The models' own maximum: a larger number limits nothing, and some providers reject it. */
const MOST = 64_000;

/** The most that a call may spend. */
export function mostSpent(input: number, price: Price | undefined): CallEstimate {
  const tokens = { input, output: MOST, cached: 0, cacheWrite: input };
  return { tokens: input + MOST, ...(price !== undefined && { costMicroUsd: costMicroUsd(tokens, price) }) };
}

/** The maximum answer length that fits the remaining budget; undefined if unlimited. */
export function outputLimit(
  left: Allowance | undefined,
  inputTokens: number,
  price: Price | undefined,
): number | undefined {
  const { tokens = Number.POSITIVE_INFINITY, costMicroUsd = Number.POSITIVE_INFINITY } = left ?? {};
  // A price is dollars per million tokens, so millionths of a dollar per token.
  const { input = 0, output = 0 } = price ?? {};
  const affordable = output > 0 ? Math.floor((costMicroUsd - inputTokens * input) / output) : Number.POSITIVE_INFINITY;
  const most = Math.min(tokens - inputTokens, affordable);
  return most < MOST ? Math.max(LEAST, most) : undefined;
}
