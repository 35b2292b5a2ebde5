import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { messageId, nodeId, runId } from '../ids.ts';
import { text } from '../json.ts';

export const message = z.strictObject({
  id: messageId,
  runId,
  nodeId: nodeId.optional(),
  role: z.enum(['user', 'assistant', 'system']),
  content: text,
  /** True interrupts the node's turn; otherwise the message waits in its inbox. */
  interrupt: z.boolean(),
  createdAt: timestamp,
});
export type Message = z.infer<typeof message>;
