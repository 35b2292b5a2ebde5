import { type Json, json, jsonObject, text } from '@signalbox/model';
import * as z from 'zod';

/** What a tool of a plan does to the world besides answering. */
const ownToolEffect = z.enum(['read', 'files', 'external']);
export type OwnToolEffect = z.infer<typeof ownToolEffect>;

/** A tool that a plan brings along, as plain data: its code stays in the plan's thread. */
export const ownToolDefinition = z.strictObject({
  name: text,
  description: text,
  /** A JSON Schema of an object. */
  input: jsonObject,
  risk: z.enum(['low', 'medium', 'high']),
  effects: z.array(ownToolEffect).readonly(),
});
export type OwnToolDefinition = Readonly<z.infer<typeof ownToolDefinition>>;

export interface OwnToolCall {
  readonly id: string;
  readonly tool: string;
  readonly input: Json;
}

/** What the code of a tool asks of its call: files and commands that belong to it. */
export type OwnToolOperation =
  | { readonly kind: 'read' | 'list' | 'stat' | 'remove' | 'mkdir'; readonly path: string }
  | { readonly kind: 'write'; readonly path: string; readonly content: string | Uint8Array }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | {
      readonly kind: 'command';
      readonly command: readonly string[];
      readonly timeoutMs?: number | undefined;
      readonly env?: Readonly<Record<string, string>> | undefined;
    };

export type OwnToolAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly message: string };

const outside = z.array(text).readonly();
/** `outside` names what the code did past its call: nobody undoes it. */
export const ownToolReply = z.union([
  z.strictObject({ ok: z.literal(true), value: json, outside }),
  z.strictObject({ ok: z.literal(false), message: text, outside }),
]);
export type OwnToolReply = Readonly<z.infer<typeof ownToolReply>>;

/** Calls the code of a plan's tools, in the plan's thread. Rejects if that thread is gone. */
export interface OwnToolPort {
  call(
    call: OwnToolCall,
    desk: { readonly signal: AbortSignal; operate(operation: OwnToolOperation): Promise<OwnToolAnswer> },
  ): Promise<OwnToolReply>;
}
