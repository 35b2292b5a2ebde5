import * as z from 'zod';
import { jsonObject, text } from '../json.ts';

/** A tool that agents can be offered here, and what the node's rules say of it. */
const wireTool = z.object({
  name: text.min(1),
  risk: z.enum(['low', 'medium', 'high']),
  effects: z.enum(['none', 'read-only', 'files', 'external']),
  /** Whether the node's rules let the agent have it. */
  offered: z.boolean(),
  /** Whether a person must allow each call. */
  needsApproval: z.boolean(),
});

/** What an agent may use: what its author wrote, and what that means with the tools of this server as it is now. */
const wireToolPolicy = z.object({
  allow: z.array(text).readonly().optional(),
  deny: z.array(text).readonly().optional(),
  permissions: z.enum(['gated', 'skip']),
  /** Absent where the server does not know the tools of the agent. */
  tools: z.array(wireTool).readonly().optional(),
});
export type WireToolPolicy = z.infer<typeof wireToolPolicy>;

/** Everything that a node was given, as a frame has it. */
export const nodeInput = z.object({
  node: text.min(1),
  kind: text.min(1),
  frame: z.int().nonnegative(),
  prompt: text.optional(),
  system: text.optional(),
  model: text.optional(),
  /** What its answer must fit, as JSON Schema. */
  schema: jsonObject.optional(),
  tools: wireToolPolicy.optional(),
  /** Everything else that is on it. */
  props: jsonObject,
  /** Names of the handlers that its author wrote; absent where the frame was made before they were kept. */
  handlers: z.array(text).readonly().optional(),
  /** Of the work that it stands for in this frame. */
  signature: text.optional(),
  /** Of the work that was started for it last, up to this frame. */
  startedSignature: text.optional(),
  source: z.object({ file: text, line: z.int(), column: z.int() }).optional(),
  /** What is too long to be sent whole: how many bytes are missing, by field (`prompt`, `props.input`). */
  leftOut: z.record(z.string(), z.int().positive()),
});
export type NodeInput = z.infer<typeof nodeInput>;
