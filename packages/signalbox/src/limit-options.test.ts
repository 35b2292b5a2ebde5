import { describe, expect, it } from 'vitest';
import { limitsOf } from './limit-options.ts';

describe('limits on the command line', () => {
  it('are those of a run, each in its unit', () => {
    const flags = { maxCost: '0.5', maxTokens: '9000', maxCalls: '40', maxRetries: '0', maxMinutes: '2' };
    expect(limitsOf(flags)).toEqual({
      ok: true,
      value: {
        maxCostMicroUsd: 500_000,
        maxTotalTokens: 9000,
        maxToolCalls: 40,
        maxRetriesPerTask: 0,
        maxWallClockMs: 120_000,
      },
    });
    expect(limitsOf({})).toEqual({ ok: true, value: {} });
  });

  it.each(['x', '', '-1'])('must be numbers: %j is refused', maxCalls => {
    expect(limitsOf({ maxCalls })).toMatchObject({
      ok: false,
      error: { message: `--max-calls must be a number; got "${maxCalls}".` },
    });
  });
});
