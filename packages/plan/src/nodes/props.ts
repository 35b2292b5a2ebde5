import { type Json, json, text } from '@signalbox/model';
import * as z from 'zod';
import { isElement, type PlanChild } from '../jsx/element.ts';
import type { NodeKind } from './node-kind.ts';

/** A function that the author wrote. What it takes and returns is checked by the compiler, and by its caller. */
const code = z.custom<(...args: never[]) => unknown>(value => typeof value === 'function', 'must be a function');
const name = text.min(1, 'must not be empty');
const count = z.int('must be a whole number').positive('must be at least 1');
const condition = z.union([z.boolean(), code], 'must be true, false or a function that returns one of them');
const branch = z.custom<PlanChild>(value => isBranch(value), 'must be an element, a list of elements or nothing');
const plain = json.optional();

const common = { id: name.optional(), label: text.optional() };
const handlers = {
  onFinished: code.optional(),
  onError: code.optional(),
  onProgress: code.optional(),
  onBlocked: code.optional(),
};
const running = { ...common, ...handlers, retries: z.int().nonnegative().optional(), timeoutMs: count.optional() };

const schema = z.custom<z.ZodType | { readonly [key: string]: Json }>(
  value => typeof value === 'object' && value !== null && !isElement(value),
  'must be a zod schema or a JSON Schema',
);

const agent = {
  ...running,
  prompt: text.optional(),
  system: text.optional(),
  tools: z.strictObject({ allow: z.array(name).optional(), deny: z.array(name).optional() }).optional(),
  schema: schema.optional(),
  maxTurns: count.optional(),
  maxTokens: count.optional(),
  history: z.strictObject({ maxMessages: count.optional(), maxTokens: count.optional() }).optional(),
  resume: z.enum(['continue', 'restart', 'fail']).optional(),
  permissions: z.enum(['gated', 'skip']).optional(),
  cwd: name.optional(),
};
const vendor = z.strictObject({ ...agent, model: name.optional() });
const loop = { ...common, maxIterations: count.optional() };

/** What an author may write on each kind of node, checked when the element is made. */
export const propSchemas = {
  plan: z.strictObject({ ...common, name }),
  component: z.strictObject({ name }),
  branch: z.strictObject({ name: text, taken: z.boolean() }),
  if: z.strictObject({ ...common, condition, else: branch.optional() }),
  switch: z.strictObject({
    ...common,
    value: z.union([z.string(), z.number(), z.boolean()], 'must be a string, a number or a boolean'),
    cases: z.record(z.string(), branch),
    default: branch.optional(),
  }),
  each: z.strictObject({ ...common, items: z.array(z.unknown(), 'must be a list') }),
  while: z.strictObject({ ...loop, condition }),
  ralph: z.strictObject({ ...loop, until: condition.optional() }),
  phase: z.strictObject({ ...common, name }),
  step: z.strictObject({ ...common, name: name.optional() }),
  parallel: z.strictObject({ ...common, limit: count.optional() }),
  agent: z.strictObject({ ...agent, model: name, plugin: name.optional() }),
  claude: vendor,
  codex: vendor,
  gemini: vendor,
  openai: vendor,
  task: z.strictObject({
    ...running,
    run: code,
    input: plain,
    effects: z.enum(['none', 'undoable', 'external']).optional(),
  }),
  human: z.strictObject({
    ...running,
    prompt: text.optional(),
    options: z
      .array(z.strictObject({ id: name, label: text.optional() }))
      .min(1)
      .optional(),
    schema: schema.optional(),
    context: plain,
  }),
  subplan: z.strictObject({
    ...running,
    plan: z.custom<{ readonly name: string }>(
      value => typeof value === 'object' && value !== null && 'render' in value,
      'must be a plan made by definePlan',
    ),
    input: plain,
  }),
  effect: z.strictObject({
    ...common,
    id: name,
    deps: z.array(json).optional(),
    run: code,
    cleanup: code.optional(),
  }),
  stop: z.strictObject({ ...common, reason: text.optional() }),
  end: z.strictObject({ ...common, reason: text.optional() }),
} as const satisfies Record<NodeKind, z.ZodType>;

export type CheckedProps<Kind extends NodeKind> = z.infer<(typeof propSchemas)[Kind]>;

function isBranch(value: unknown): boolean {
  if (value === null || value === undefined || typeof value === 'boolean') return true;
  return Array.isArray(value) ? value.every(isBranch) : isElement(value);
}
