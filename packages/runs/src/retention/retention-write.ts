import { text, timestamp } from '@signalbox/model';
import * as z from 'zod';
import { frameRange } from './frame-range.ts';

/** Marks a run as kept, from outside its driver. */
export const keepWrite = z.strictObject({
  /** Exempts the run from retention; null revokes that. */
  kept: z
    .strictObject({ at: timestamp, by: text.min(1) })
    .nullable()
    .optional(),
});

/** What keeping and collecting write to a record. Collecting also replaces bodies, so a plain commit cannot do it. */
export const retentionWrite = keepWrite.extend({
  /** Collected frames: whatever only they showed is removed. */
  collapse: z.array(frameRange).readonly().optional(),
});
export type RetentionWrite = z.infer<typeof retentionWrite>;
