import type { ToolKind } from '@agentclientprotocol/sdk';
import * as z from 'zod';

/** The parts of an agent's updates that are used here. Agents send more, and newer ones send other kinds: those are ignored. */
const toolKind = z
  .enum(['read', 'edit', 'delete', 'move', 'search', 'execute', 'think', 'fetch', 'switch_mode', 'other'])
  .catch('other') satisfies z.ZodType<ToolKind>;

const location = z.looseObject({ path: z.string(), line: z.number().nullish() });

export const toolCall = z.looseObject({
  toolCallId: z.string().min(1),
  title: z.string().nullish(),
  name: z.string().nullish(),
  kind: toolKind.nullish(),
  status: z.enum(['pending', 'in_progress', 'completed', 'failed']).nullish().catch(undefined),
  content: z
    .array(z.looseObject({ type: z.string() }))
    .nullish()
    .catch(undefined),
  locations: z.array(location).nullish().catch(undefined),
  rawInput: z.unknown().optional(),
  rawOutput: z.unknown().optional(),
});
export type ToolCallFields = z.infer<typeof toolCall>;

const chunk = { content: z.looseObject({ type: z.string(), text: z.string().optional() }) };

export const sessionUpdate = z.discriminatedUnion('sessionUpdate', [
  z.looseObject({ sessionUpdate: z.literal('agent_message_chunk'), ...chunk }),
  z.looseObject({ sessionUpdate: z.literal('agent_thought_chunk'), ...chunk }),
  toolCall.extend({ sessionUpdate: z.literal('tool_call') }),
  toolCall.extend({ sessionUpdate: z.literal('tool_call_update') }),
  z.looseObject({
    sessionUpdate: z.literal('plan'),
    entries: z.array(z.looseObject({ content: z.string(), status: z.string().optional() })),
  }),
  z.looseObject({ sessionUpdate: z.literal('current_mode_update'), currentModeId: z.string() }),
  z.looseObject({
    sessionUpdate: z.literal('config_option_update'),
    configOptions: z.array(z.looseObject({ id: z.string(), currentValue: z.unknown().optional() })),
  }),
  z.looseObject({
    sessionUpdate: z.literal('usage_update'),
    cost: z.looseObject({ amount: z.number().nonnegative(), currency: z.string() }).nullish(),
  }),
]);
export type SessionUpdate = z.infer<typeof sessionUpdate>;

/** Updates of the protocol that say nothing about the work. */
export const IDLE_UPDATES: ReadonlySet<string> = new Set([
  'user_message_chunk',
  'available_commands_update',
  'session_info_update',
  'notice',
  'compaction_update',
  'compaction_summary_chunk',
]);

/** The tokens of one prompt, as most agents report them with its answer. */
export const promptUsage = z.looseObject({
  inputTokens: z.int().nonnegative(),
  outputTokens: z.int().nonnegative(),
  cachedReadTokens: z.int().nonnegative().nullish(),
});
export type PromptUsage = z.infer<typeof promptUsage>;
