import { json, jsonObject, text } from '@signalbox/model';
import * as z from 'zod';
import type { NodeKind } from './node-kind.ts';

const label = { label: text.optional() };
const work = { ...label, retries: z.int().nonnegative(), timeoutMs: z.int().positive().optional() };
const agentData = z.strictObject({
  ...work,
  model: text.optional(),
  plugin: text.optional(),
  prompt: text,
  system: text.optional(),
  tools: z
    .strictObject({ allow: z.array(text).readonly().optional(), deny: z.array(text).readonly().optional() })
    .optional(),
  schema: jsonObject.optional(),
  maxTurns: z.int().positive(),
  maxTokens: z.int().positive().optional(),
  history: z
    .strictObject({ maxMessages: z.int().positive().optional(), maxTokens: z.int().positive().optional() })
    .optional(),
  resume: z.enum(['continue', 'restart', 'fail']),
  permissions: z.enum(['gated', 'skip']),
  cwd: text.optional(),
});
const loopData = z.strictObject({ ...label, goesOn: z.boolean(), maxIterations: z.int().positive() });
const endingData = z.strictObject({ ...label, reason: text.optional() });

/** What is kept of a node of each kind: plain data, no code. */
export const nodeData = {
  plan: z.strictObject({ ...label, name: text }),
  component: z.strictObject({ name: text }),
  branch: z.strictObject({ name: text, taken: z.boolean() }),
  if: z.strictObject({ ...label, condition: z.boolean() }),
  switch: z.strictObject({ ...label, value: z.union([z.string(), z.number(), z.boolean()]) }),
  each: z.strictObject({ ...label, items: z.int().nonnegative() }),
  while: loopData,
  ralph: loopData,
  phase: z.strictObject({ ...label, name: text }),
  step: z.strictObject({ ...label, name: text.optional() }),
  parallel: z.strictObject({ ...label, limit: z.int().positive().optional() }),
  agent: agentData,
  claude: agentData,
  codex: agentData,
  gemini: agentData,
  openai: agentData,
  task: z.strictObject({
    ...work,
    input: json.optional(),
    effects: z.enum(['none', 'undoable', 'external']).optional(),
  }),
  human: z.strictObject({
    ...work,
    prompt: text,
    options: z
      .array(z.strictObject({ id: text, label: text.optional() }))
      .readonly()
      .optional(),
    schema: jsonObject.optional(),
    context: json.optional(),
  }),
  subplan: z.strictObject({ ...work, plan: text, input: json.optional() }),
  effect: z.strictObject({ ...label, deps: z.array(json).readonly() }),
  stop: endingData,
  end: endingData,
} as const satisfies Record<NodeKind, z.ZodType>;

export type NodeData<Kind extends NodeKind> = z.infer<(typeof nodeData)[Kind]>;
