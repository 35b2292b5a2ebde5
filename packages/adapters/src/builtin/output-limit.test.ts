import { describe, expect, it } from 'vitest';
import { callEstimate, outputLimit } from './output-limit.ts';

describe('how long an answer may be', () => {
  it('[B40] is bounded by the tokens that are left, without those of the request', () => {
    expect(outputLimit({ tokens: 12_000 }, 2_000, undefined)).toBe(10_000);
    expect(outputLimit({ tokens: 12_000 }, 20_000, undefined)).toBe(16);
  });

  it('[B40] is bounded by the money that is left, at the price of the model', () => {
    expect(outputLimit({ costMicroUsd: 10_000 }, 1_000, { input: 5, output: 25 })).toBe(200);
    expect(outputLimit({ costMicroUsd: 10_000 }, 1_000, { input: 4, cacheWrite: 5, output: 25 })).toBe(200);
    const long = { over: 900, input: 5, output: 25 };
    expect(outputLimit({ costMicroUsd: 10_000 }, 1_000, { input: 1, output: 5, long })).toBe(200);
    expect(outputLimit({ tokens: 150, costMicroUsd: 10_000 }, 50, { input: 5, output: 25 })).toBe(100);
  });

  it('[B40] is the model’s own affair where nothing bounds it, or more is left than it gives', () => {
    expect(outputLimit(undefined, 10, undefined)).toBeUndefined();
    expect(outputLimit({ costMicroUsd: 10 }, 10, { input: 0, output: 0 })).toBeUndefined();
    expect(outputLimit({ tokens: 1_000_000 }, 10, undefined)).toBeUndefined();
  });

  it('[B40] [B195] stays within what was reserved, whatever is left; a call that has no room for its input and a first word does not fit', () => {
    const price = { input: 4, cacheWrite: 5, output: 25 };
    expect(callEstimate(1_000, price)).toEqual({
      ...{ tokens: 129_000, costMicroUsd: 3_205_000 },
      least: { tokens: 1_016, costMicroUsd: 5_400 },
    });
    // Without a maximum, models answer up to 128,000 tokens. Not every provider takes a maximum above 64,000.
    expect(outputLimit({ tokens: 129_000 }, 1_000, undefined)).toBeUndefined();
    expect(outputLimit({ tokens: 128_999 }, 1_000, undefined)).toBe(64_000);
    expect(outputLimit({ tokens: 1_016 }, 1_000, undefined)).toBe(16);
  });
});
