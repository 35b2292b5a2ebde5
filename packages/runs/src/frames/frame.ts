import { digest, text, timestamp } from '@signalbox/model';
import * as z from 'zod';
import { nodeKey } from '../ids.ts';

const keys = z.array(text).readonly();

/** What made a frame necessary, and from where. */
export const frameTrigger = z.strictObject({
  kind: z.enum(['start', 'resume', 'state', 'task', 'decision', 'signal', 'timer', 'file', 'operator', 'effect']),
  node: nodeKey.optional(),
  keys: keys.optional(),
  detail: text.optional(),
});
export type FrameTrigger = z.infer<typeof frameTrigger>;

/**
 * One render of a plan. Its tree, statuses, state and the keys it read are intervals; here is what only this frame
 * knows. `verifiable` is false where the render read something that was not recorded.
 */
export const frame = z.strictObject({
  index: z.int().nonnegative(),
  at: timestamp,
  trigger: frameTrigger,
  mounted: z.array(nodeKey).readonly(),
  unmounted: z.array(nodeKey).readonly(),
  written: keys,
  /** Of the plan, the statuses and the state together: what a verifying replay must reproduce. */
  digest,
  verifiable: z.boolean(),
  /** The version of the plan that made it; absent where that is the first (R38). */
  planVersion: z.int().min(2).optional(),
});
export type Frame = z.infer<typeof frame>;
