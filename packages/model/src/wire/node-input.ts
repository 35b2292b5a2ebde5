import * as z from 'zod';
import { json, jsonObject, text } from '../json.ts';

/** A tool available to agents on this server, and the node's rules for it. */
const wireTool = z.object({
  name: text.min(1),
  risk: z.enum(['low', 'medium', 'high']),
  effects: z.enum(['none', 'read-only', 'files', 'external']),
  /** Whether the node's rules allow it. */
  offered: z.boolean(),
  /** Whether a person must allow each call. */
  needsApproval: z.boolean(),
});

/** An agent's tools: the rules written by the author, and their meaning for the current tools of this server. */
const wireToolPolicy = z.object({
  allow: z.array(text).readonly().optional(),
  deny: z.array(text).readonly().optional(),
  permissions: z.enum(['gated', 'skip']),
  /** Absent if the server does not know the agent's tools. */
  tools: z.array(wireTool).readonly().optional(),
});
export type WireToolPolicy = z.infer<typeof wireToolPolicy>;

/** Everything given to a node, in one frame. */
export const nodeInput = z.object({
  node: text.min(1),
  kind: text.min(1),
  frame: z.int().nonnegative(),
  prompt: text.optional(),
  system: text.optional(),
  model: text.optional(),
  /** The JSON Schema of its answer. */
  schema: jsonObject.optional(),
  tools: wireToolPolicy.optional(),
  /** What a rerun may change with `nodeInput`; absent if nothing, or if it is too long to send whole. */
  editable: json.optional(),
  /** All other props. */
  props: jsonObject,
  /** Names of its handlers; absent in frames recorded before handler names were. */
  handlers: z.array(text).readonly().optional(),
  /** The signature of the node's work in this frame. */
  signature: text.optional(),
  /** The signature of the last work started for it, up to this frame. */
  startedSignature: text.optional(),
  source: z.object({ file: text, line: z.int(), column: z.int() }).optional(),
  /** Fields that are too long to send whole (`prompt`, `props.input`), with the number of missing bytes. */
  leftOut: z.record(z.string(), z.int().positive()),
});
export type NodeInput = z.infer<typeof nodeInput>;
