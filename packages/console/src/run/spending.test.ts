import type { Json, WireChunk } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { spendingOf, sumOf } from './spending.ts';

const message = (payload: Json) => ({ kind: 'message', payload }) as WireChunk;
const begun = (model: string, priceKnown = true) => message({ v: 1, kind: 'begun', model, priceKnown });
const call = (inputTokens: number, outputTokens: number, costMicroUsd: number) =>
  message({ v: 1, kind: 'assistant', content: [], usage: { inputTokens, outputTokens, costMicroUsd } });

describe('what a task spent', () => {
  it('[K34] is the sum of its calls, by model', () => {
    const spent = spendingOf([begun('a'), call(10, 1, 500), call(20, 2, 700), begun('b', false), call(5, 5, 0)]);
    expect([...spent]).toEqual([
      ['a', { calls: 2, inputTokens: 30, outputTokens: 3, costMicroUsd: 1200, isUnpriced: false }],
      ['b', { calls: 1, inputTokens: 5, outputTokens: 5, costMicroUsd: 0, isUnpriced: true }],
    ]);
    expect(sumOf(spent.values())).toEqual({
      calls: 3,
      inputTokens: 35,
      outputTokens: 8,
      costMicroUsd: 1200,
      isUnpriced: true,
    });
  });

  it('[K34] leaves out what it does not understand', () => {
    const odd = [{ kind: 'token', payload: 'x' } as WireChunk, message('x'), message({ kind: 'assistant', usage: 7 })];
    expect(spendingOf(odd).size).toBe(0);
    expect(sumOf(spendingOf([message({ kind: 'assistant', usage: { inputTokens: -5 } })]).values()).inputTokens).toBe(
      0,
    );
  });
});
