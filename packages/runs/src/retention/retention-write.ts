import { text, timestamp } from '@signalbox/model';
import * as z from 'zod';
import { frameRange } from './frame-range.ts';

/** What keeping writes to a run, beside its driver. */
export const keepWrite = z.strictObject({
  /** Somebody wants the run to stay, however old it gets; null takes that back. */
  kept: z
    .strictObject({ at: timestamp, by: text.min(1) })
    .nullable()
    .optional(),
});

/** What keeping and collecting leave in a record. Collecting replaces bodies too, so no commit does it by itself. */
export const retentionWrite = keepWrite.extend({
  /** Frames that are collected: what only they showed goes. */
  collapse: z.array(frameRange).readonly().optional(),
});
export type RetentionWrite = z.infer<typeof retentionWrite>;
