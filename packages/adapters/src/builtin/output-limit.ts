import type { Allowance, CallEstimate } from '@signalbox/runs';
import { costMicroUsd, type Price } from './prices.ts';

/** Providers reject requests below this. */
const LEAST = 16;
/** The most that is asked for: some providers reject a larger number. */
const MOST = 64_000;
/** The longest answer of a model that is given no maximum. */
const UNTOLD = 128_000;

/** The most that a call may spend, and the least that it can make do with. */
export function callEstimate(input: number, price: Price | undefined): CallEstimate {
  return { ...spending(input, UNTOLD, price), least: spending(input, LEAST, price) };
}

/** As if nothing of the input were cached, and all of it were written to the cache. */
function spending(input: number, output: number, price: Price | undefined) {
  const tokens = { input, output, cached: 0, cacheWrite: input };
  return { tokens: input + output, ...(price !== undefined && { costMicroUsd: costMicroUsd(tokens, price) }) };
}

/** The maximum answer length that fits the remaining budget; undefined if any length does. */
export function outputLimit(
  left: Allowance | undefined,
  inputTokens: number,
  price: Price | undefined,
): number | undefined {
  const { tokens = Number.POSITIVE_INFINITY, costMicroUsd: money = Number.POSITIVE_INFINITY } = left ?? {};
  const { costMicroUsd: forInput = 0 } = spending(inputTokens, 0, price);
  // A price is dollars per million tokens, so millionths of a dollar per token.
  const { output = 0 } = (price?.long !== undefined && inputTokens > price.long.over ? price.long : price) ?? {};
  const affordable = output > 0 ? Math.floor((money - forInput) / output) : Number.POSITIVE_INFINITY;
  const most = Math.min(tokens - inputTokens, affordable);
  return most < UNTOLD ? Math.min(MOST, Math.max(LEAST, most)) : undefined;
}
