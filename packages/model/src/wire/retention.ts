import * as z from 'zod';
import { runId } from '../ids.ts';
import { text } from '../json.ts';

/** The body of `POST /api/gc`. */
export const collectBody = z.strictObject({
  /** Reports without removing anything. */
  dryRun: z.boolean().optional(),
  /** Returns free space in the database file to the disk. */
  compact: z.boolean().optional(),
});

const count = z.int().nonnegative();
const amount = z.strictObject({ count, bytes: count });
const run = { run: runId, name: text, bytes: count };
const days = z.number().nullable();

/** Everything removed by a collection, or planned for removal. */
export const collectReport = z.strictObject({
  dryRun: z.boolean(),
  policy: z.strictObject({ collapseAfterDays: days, removeAfterDays: days }),
  runs: z.array(z.strictObject(run)).readonly(),
  collapsed: z.array(z.strictObject({ ...run, frames: count })).readonly(),
  spared: z.array(z.strictObject({ run: runId, why: z.enum(['kept', 'forked', 'journal']) })).readonly(),
  folders: amount,
  workspaces: amount,
  sessions: amount,
  blobs: amount,
  /** Why blobs were not checked, if they were not. */
  blobsSpared: text.optional(),
  bytes: count,
});
