import { digest, text, timestamp } from '@signalbox/model';
import * as z from 'zod';
import { nodeKey } from '../ids.ts';

const keys = z.array(text).readonly();

/** What caused a frame, and where. */
export const frameTrigger = z.strictObject({
  kind: z.enum(['start', 'resume', 'state', 'task', 'decision', 'signal', 'timer', 'file', 'operator', 'effect']),
  node: nodeKey.optional(),
  keys: keys.optional(),
  detail: text.optional(),
});
export type FrameTrigger = z.infer<typeof frameTrigger>;

/**
 * One render of a plan. Its tree, statuses, state and reads are intervals; this holds the rest. `verifiable` is false if the render read
 * something that was not recorded.
 */
export const frame = z.strictObject({
  index: z.int().nonnegative(),
  at: timestamp,
  trigger: frameTrigger,
  mounted: z.array(nodeKey).readonly(),
  unmounted: z.array(nodeKey).readonly(),
  written: keys,
  /** Of the plan, the statuses and the state together: a verifying replay must reproduce it. */
  digest,
  verifiable: z.boolean(),
  /** The plan version that made it; absent for the first (R38). */
  planVersion: z.int().min(2).optional(),
});
export type Frame = z.infer<typeof frame>;
