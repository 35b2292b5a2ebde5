import * as z from 'zod';

/** Other rules for the retries of a node than its author wrote: what is absent stays as it is. */
export const retryPolicy = z.strictObject({
  retries: z.int().nonnegative().max(100).optional(),
  backoffMs: z.int().nonnegative().max(300_000).optional(),
  timeoutMs: z.int().positive().max(86_400_000).optional(),
});
export type RetryPolicy = z.infer<typeof retryPolicy>;
