import { json } from '@signalbox/model';
import * as z from 'zod';
import { defineSlice } from './slice.ts';

/** The conversation in the provider's format. A log: it survives every rollback. */
const transcriptEntry = z.strictObject({
  role: z.enum(['system', 'user', 'assistant', 'tool']),
  content: json,
  providerPayload: json.optional(),
});
export type TranscriptEntry = z.infer<typeof transcriptEntry>;

export const transcript = defineSlice({ name: 'Transcript', item: transcriptEntry });
