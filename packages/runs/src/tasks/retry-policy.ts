import * as z from 'zod';

/** Overrides a node's retry rules; absent fields keep the author's values. */
export const retryPolicy = z.strictObject({
  retries: z.int().nonnegative().max(100).optional(),
  backoffMs: z.int().nonnegative().max(300_000).optional(),
  timeoutMs: z.int().positive().max(86_400_000).optional(),
});
export type RetryPolicy = z.infer<typeof retryPolicy>;
