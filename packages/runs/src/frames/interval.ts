import { text } from '@signalbox/model';
import * as z from 'zod';
import { change } from './change.ts';

/**
 * What is stored by interval: a value holds from the frame that wrote it until the next frame that writes the same key.
 * - `node`: plan nodes by node key; the value is the node without its children, so that a new sibling is one row.
 * - `status`: node statuses by node key.
 * - `state`: durable state by key.
 * - `read`: the keys that the render read; one row when reading a key starts, one when it stops.
 * - `workspace`: the snapshot of the run's files, under one key; one row per change.
 */
export const intervalSpace = z.enum(['node', 'status', 'state', 'read', 'workspace']);
export type IntervalSpace = z.infer<typeof intervalSpace>;

export const intervalWrite = z.strictObject({
  space: intervalSpace,
  key: text.min(1).max(1024),
  fromFrame: z.int().nonnegative(),
  change,
});
export type IntervalWrite = z.infer<typeof intervalWrite>;
