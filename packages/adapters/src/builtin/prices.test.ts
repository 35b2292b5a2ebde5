import { describe, expect, it } from 'vitest';
import { costMicroUsd, LIST_PRICES, priceOf } from './prices.ts';

const tokens = { input: 1_000_000, output: 1_000_000, cached: 0, cacheWrite: 0 };

describe('prices', () => {
  it('[B27] are for a million tokens, in millionths of a dollar', () => {
    expect(costMicroUsd(tokens, { input: 3, output: 15 })).toBe(18_000_000);
    expect(costMicroUsd({ input: 1, output: 0, cached: 0, cacheWrite: 0 }, { input: 0.1, output: 1 })).toBe(1);
    expect(costMicroUsd({ input: 0, output: 0, cached: 0, cacheWrite: 0 }, { input: 3, output: 15 })).toBe(0);
    expect(costMicroUsd({ input: 30, output: 0, cached: 0, cacheWrite: 0 }, { input: 0.1, output: 1 })).toBe(3);
  });

  it('[B27] differ for what is cached, and for long requests', () => {
    const price = { input: 4, output: 20, cached: 0.4, cacheWrite: 5, long: { over: 500_000, input: 8, output: 40 } };
    expect(costMicroUsd({ input: 100, output: 10, cached: 40, cacheWrite: 20 }, price)).toBe(160 + 16 + 100 + 200);
    expect(costMicroUsd(tokens, price)).toBe(48_000_000);
    expect(costMicroUsd({ input: 100, output: 0, cached: 100, cacheWrite: 0 }, { input: 4, output: 1 })).toBe(400);
  });

  it('[B27] are found by name, with and without a date', () => {
    const of = (provider: string, model: string) => priceOf({ provider, model }, LIST_PRICES);
    expect(of('anthropic', 'claude-sonnet-4-5-20250929')).toEqual(of('anthropic', 'claude-sonnet-4-5'));
    expect(of('openai', 'gpt-5.4-2026-03-05')).toEqual(of('openai', 'gpt-5.4'));
    expect(of('openai-chat', 'gpt-5.4')).toEqual(of('openai', 'gpt-5.4'));
    expect(of('openai', 'gpt-5.4')).not.toEqual(of('openai', 'gpt-5'));
    expect(of('scripted', 'x.json')).toEqual({ input: 0, output: 0 });
    expect(of('google', 'claude-sonnet-4-5')).toBeUndefined();
  });
});
