import * as z from 'zod';

const days = z.number().nonnegative().max(36_500).nullable();

/** How long ended runs are kept; null means forever. `docs/retention.md` describes this. */
export const retentionPolicy = z.strictObject({
  /** After this, only significant frames are kept. */
  collapseAfterDays: days.default(30),
  /** After this, the run is removed, with everything that only it needs. */
  removeAfterDays: days.default(90),
});
export type RetentionPolicy = z.infer<typeof retentionPolicy>;

export const DEFAULT_RETENTION: RetentionPolicy = retentionPolicy.parse({});
