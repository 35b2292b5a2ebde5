import { text, timestamp } from '@signalbox/model';
import * as z from 'zod';
import { nodeKey } from '../ids.ts';
import { change } from './change.ts';

/**
 * One applied state action. `index` is its place among the transitions of its frame, in order of application. The change is relative to the
 * key's previous value, so the log grows only by what changed; readers get both values.
 */
export const transition = z.strictObject({
  frame: z.int().nonnegative(),
  index: z.int().nonnegative(),
  key: text.min(1).max(1024),
  change,
  trigger: text.min(1).optional(),
  node: nodeKey.optional(),
  handler: text.min(1).optional(),
  at: timestamp,
});
export type Transition = z.infer<typeof transition>;
