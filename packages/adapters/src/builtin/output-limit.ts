import type { Allowance } from '@signalbox/runs';
import type { Price } from './prices.ts';

/** Below this no provider takes a request. */
const LEAST = 16;
/** What models give at most by themselves: a larger number bounds nothing, and some providers refuse it. */
const MOST = 64_000;

/** How long an answer may be so that the call fits into what is left; undefined where nothing bounds it. */
export function outputLimit(
  left: Allowance | undefined,
  inputTokens: number,
  price: Price | undefined,
): number | undefined {
  const { tokens = Number.POSITIVE_INFINITY, costMicroUsd = Number.POSITIVE_INFINITY } = left ?? {};
  // A price is dollars for a million tokens: millionths of a dollar for one.
  const { input = 0, output = 0 } = price ?? {};
  const affordable = output > 0 ? Math.floor((costMicroUsd - inputTokens * input) / output) : Number.POSITIVE_INFINITY;
  const most = Math.min(tokens - inputTokens, affordable);
  return most < MOST ? Math.max(LEAST, most) : undefined;
}
