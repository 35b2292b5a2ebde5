import * as z from 'zod';
import { toolId } from '../ids.ts';
import { json, jsonObject, text } from '../json.ts';

/** A proposed tool call. */
export const toolCall = z.strictObject({
  id: toolId,
  name: text.min(1),
  args: jsonObject,
});
export type ToolCall = z.infer<typeof toolCall>;

export const toolResult = z.strictObject({ ok: z.boolean(), output: json.optional() });
export const toolError = z.strictObject({ message: text });
