import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { runId } from '../ids.ts';
import { text } from '../json.ts';

/** Why a data directory takes no writes. */
export const storageReason = z.enum(['full', 'read-only', 'failing']);
export type StorageReason = z.infer<typeof storageReason>;

/** Whether the data directory takes writes. While it does not, runs with something to commit are paused. */
export const storageStanding = z.discriminatedUnion('status', [
  z.object({ status: z.literal('ok') }),
  z.object({
    status: storageReason,
    /** A sentence about the problem and its remedy. */
    message: text,
    since: timestamp,
    /** Runs paused because of it. */
    runs: z.array(runId).readonly(),
    /** Writes waiting for space. */
    waiting: z.int().nonnegative(),
  }),
]);
export type StorageStanding = z.infer<typeof storageStanding>;
