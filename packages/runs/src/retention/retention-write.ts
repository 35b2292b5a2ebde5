import { text, timestamp } from '@signalbox/model';
import * as z from 'zod';
import { frameRange } from './frame-range.ts';

/** What keeping and collecting write to a run, beside its driver. */
export const retentionWrite = z.strictObject({
  /** Somebody wants the run to stay, however old it gets; null takes that back. */
  kept: z
    .strictObject({ at: timestamp, by: text.min(1) })
    .nullable()
    .optional(),
  /** Frames that are collected: what only they showed goes. */
  collapse: z.array(frameRange).readonly().optional(),
});
export type RetentionWrite = z.infer<typeof retentionWrite>;
