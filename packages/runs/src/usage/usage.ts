import { text, timestamp } from '@signalbox/model';
import * as z from 'zod';
import { nodeKey, taskId } from '../ids.ts';

const count = z.int().nonnegative();

/** The actual cost of one call. It is never refunded, whatever becomes of the work. */
export const usageRecord = z.strictObject({
  /** Unique in its run, so that recording it twice counts once. */
  call: text.min(1).max(256),
  node: nodeKey.optional(),
  task: taskId.optional(),
  provider: text.min(1).optional(),
  model: text.min(1).optional(),
  inputTokens: count,
  outputTokens: count,
  cachedTokens: count,
  toolCalls: count,
  /** Millionths of a US dollar: sums of integers have no rounding errors. */
  costMicroUsd: count,
  wallMs: count,
  at: timestamp,
});
export type UsageRecord = z.infer<typeof usageRecord>;

/** A sum over calls. */
export interface UsageTotal {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly toolCalls: number;
  readonly costMicroUsd: number;
  readonly wallMs: number;
}
