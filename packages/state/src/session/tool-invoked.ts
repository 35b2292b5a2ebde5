import * as z from 'zod';
import { defineEvent, defineSlice } from './slice.ts';

/** A call and its outcome. A log: a rolled-back call still happened. */
const toolInvocation = z.strictObject({
  callId: z.string(),
  tool: z.string(),
  status: z.enum(['succeeded', 'failed', 'unknown']),
  errorCode: z.string().nullable(),
  elapsedMs: z.number(),
});
export type ToolInvocation = z.infer<typeof toolInvocation>;

export const toolInvoked = defineSlice({ name: 'ToolInvoked', item: toolInvocation });
export const toolInvokedEvent = defineEvent('ToolInvoked', toolInvocation);
