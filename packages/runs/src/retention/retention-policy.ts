import * as z from 'zod';

const days = z.number().nonnegative().max(36_500).nullable();

/** How long runs are kept after they ended; null is for ever. What is said in `docs/retention.md` is what this does. */
export const retentionPolicy = z.strictObject({
  /** Then only the frames that tell something are kept. */
  collapseAfterDays: days.default(30),
  /** Then the run goes, with everything that only it needs. */
  removeAfterDays: days.default(90),
});
export type RetentionPolicy = z.infer<typeof retentionPolicy>;

export const DEFAULT_RETENTION: RetentionPolicy = retentionPolicy.parse({});
