import { describe, expect, it } from 'vitest';
import { outputLimit } from './output-limit.ts';

describe('how long an answer may be', () => {
  it('[B40] is bounded by the tokens that are left, without those of the request', () => {
    expect(outputLimit({ tokens: 12_000 }, 2_000, undefined)).toBe(10_000);
    expect(outputLimit({ tokens: 12_000 }, 20_000, undefined)).toBe(16);
  });

  it('[B40] is bounded by the money that is left, at the price of the model', () => {
    expect(outputLimit({ costMicroUsd: 10_000 }, 1_000, { input: 5, output: 25 })).toBe(200);
    expect(outputLimit({ tokens: 150, costMicroUsd: 10_000 }, 50, { input: 5, output: 25 })).toBe(100);
  });

  it('[B40] is the model’s own affair where nothing bounds it, or more is left than it gives', () => {
    expect(outputLimit(undefined, 10, undefined)).toBeUndefined();
    expect(outputLimit({ costMicroUsd: 10 }, 10, { input: 0, output: 0 })).toBeUndefined();
    expect(outputLimit({ tokens: 1_000_000 }, 10, undefined)).toBeUndefined();
  });
});
