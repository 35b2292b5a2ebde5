import * as z from 'zod';
import { jsonObject } from '../json.ts';

/** A person's answer to an approval. */
export const approvalResolution = z.discriminatedUnion('status', [
  z.strictObject({ status: z.literal('approved') }),
  z.strictObject({ status: z.literal('denied') }),
  z.strictObject({ status: z.literal('modified'), modifiedArgs: jsonObject }),
]);
export type ApprovalResolution = z.infer<typeof approvalResolution>;
