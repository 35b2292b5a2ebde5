import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { runId } from '../ids.ts';
import { text } from '../json.ts';
import { cursor, pageLimit } from './requests.ts';

const count = z.int().nonnegative();

/** Spending of calls on one day (UTC), for one model, in runs of one directory. Costs are in millionths of a US dollar. */
const wireSpending = z.object({
  day: z.iso.date(),
  provider: text.optional(),
  model: text.optional(),
  directory: text.optional(),
  calls: count,
  inputTokens: count,
  outputTokens: count,
  cachedTokens: count,
  toolCalls: count,
  costMicroUsd: count,
  wallMs: count,
});
export type WireSpending = z.infer<typeof wireSpending>;

/** The latest day first; `next` is what the next page comes after. */
export const spendingList = z.object({ spending: z.array(wireSpending).readonly(), next: text.optional() });

export const spendingQuery = z.strictObject({
  run: runId.optional(),
  since: timestamp.optional(),
  after: cursor.optional(),
  limit: pageLimit(1000),
});
