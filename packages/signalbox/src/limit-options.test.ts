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

  it.each(['x', '', '-1', '1.5'])('[A320] must be numbers: %j is refused with what is allowed', maxCalls => {
    expect(limitsOf({ maxCalls })).toMatchObject({
      ok: false,
      error: { message: `--max-calls must be a whole number, 0 or more; got "${maxCalls}".` },
    });
    expect(limitsOf({ maxCost: '-0.5' })).toMatchObject({
      error: { message: '--max-cost must be a number, 0 or more; got "-0.5".' },
    });
  });
});
