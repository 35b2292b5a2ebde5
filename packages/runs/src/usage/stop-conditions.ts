import * as z from 'zod';

const limit = z.int().nonnegative().optional();

/** Limits for a run and everything below it. */
export const stopConditions = z.strictObject({
  maxWallClockMs: limit,
  maxTotalTokens: limit,
  maxToolCalls: limit,
  maxCostMicroUsd: limit,
  maxRetriesPerTask: limit,
});
export type StopConditions = z.infer<typeof stopConditions>;
