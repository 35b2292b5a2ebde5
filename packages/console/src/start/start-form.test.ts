import type { RunSnapshot } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { emptyForm, startBodyOf, startFormOf } from './start-form.ts';

describe('the form of a start', () => {
  it('[K18] sends filled-in fields only', () => {
    expect(startBodyOf({ ...emptyForm, file: ' a.tsx ' })).toEqual({ file: 'a.tsx' });
    const whole = { ...emptyForm, file: 'a.tsx', input: '{"n":1}', tags: 'x, ,y', dollars: '0.5', minutes: '2' };
    expect(startBodyOf(whole)).toEqual({
      file: 'a.tsx',
      input: { n: 1 },
      tags: ['x', 'y'],
      limits: { maxCostMicroUsd: 500_000, maxWallClockMs: 120_000 },
    });
    expect(startBodyOf({ ...emptyForm, file: 'a.tsx', tokens: '9000', calls: '40', retries: '0' })).toEqual({
      file: 'a.tsx',
      limits: { maxTotalTokens: 9000, maxToolCalls: 40, maxRetriesPerTask: 0 },
    });
    expect(startBodyOf({ ...emptyForm, file: 'a.tsx', input: '{' })).toBeUndefined();
    expect(startBodyOf({ ...emptyForm, input: '{}' })).toBeUndefined();
  });

  it('[K18] takes the values of an earlier run, but not its key', () => {
    const form = {
      ...emptyForm,
      file: 'a.tsx',
      input: '{\n  "n": 1\n}',
      name: 'a',
      tags: 'x, y',
      dollars: '0.5',
      calls: '7',
    };
    const record = {
      entry: 'a.tsx',
      name: 'a',
      tags: ['x', 'y'],
      limits: { maxCostMicroUsd: 500_000, maxToolCalls: 7 },
    };
    expect(startFormOf({ record, input: { n: 1 } } as unknown as RunSnapshot)).toEqual(form);
  });
});
