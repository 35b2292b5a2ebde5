import type { Json, WireChunk } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { spendingOf } from './spending.ts';

const message = (payload: Json) => ({ kind: 'message', payload }) as WireChunk;
const call = (inputTokens: number, outputTokens: number, costMicroUsd: number) =>
  message({ v: 1, kind: 'assistant', content: [], usage: { inputTokens, outputTokens, costMicroUsd } });

describe('the spending of a task', () => {
  it('[K34] is the sum of its calls', () => {
    expect(spendingOf([message({ kind: 'begun' }), call(10, 1, 500), call(20, 2, 700)])).toEqual({
      calls: 2,
      inputTokens: 30,
      outputTokens: 3,
      costMicroUsd: 1200,
    });
  });

  it('[K34] leaves out unknown parts', () => {
    const odd = [{ kind: 'token', payload: 'x' } as WireChunk, message('x'), message({ kind: 'assistant', usage: 7 })];
    const none = { inputTokens: 0, outputTokens: 0, costMicroUsd: 0 };
    expect(spendingOf(odd)).toEqual({ calls: 1, ...none });
    expect(spendingOf([message({ kind: 'assistant', usage: { inputTokens: -5 } })])).toEqual({ calls: 1, ...none });
  });
});
