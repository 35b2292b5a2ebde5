import * as z from 'zod';
import { approvalId } from '../ids.ts';
import { text } from '../json.ts';
import { agentHandle, pluginCapability } from './agent-handle.ts';
import { count } from './scales.ts';

/** Why a call of a plugin failed. */
export const pluginError = z.discriminatedUnion('code', [
  z.strictObject({ code: z.literal('provider_unavailable'), message: text, retryable: z.boolean() }),
  z.strictObject({ code: z.literal('invalid_state'), message: text, handle: agentHandle.optional() }),
  z.strictObject({ code: z.literal('decision_not_found'), decisionId: approvalId }),
  z.strictObject({ code: z.literal('rate_limited'), retryAfterMs: count }),
  z.strictObject({ code: z.literal('context_overflow'), currentTokens: count, maxTokens: count }),
  z.strictObject({ code: z.literal('capability_unsupported'), capability: pluginCapability }),
]);
export type PluginError = Readonly<z.infer<typeof pluginError>>;
export type PluginErrorCode = PluginError['code'];

/** What the backend does about a failed call of a plugin. */
interface PluginErrorPlan {
  readonly first: 'retry' | 'respawn' | 'compact' | 'note';
  /** After the last attempt (R17), or if the first is not possible. */
  readonly otherwise: 'fail' | 'note';
}

export const pluginErrorPlans: Readonly<Record<PluginErrorCode, PluginErrorPlan>> = {
  /** With increasing waits, and only if it is retryable. */
  provider_unavailable: { first: 'retry', otherwise: 'fail' },
  /** Kill the agent and start it again. */
  invalid_state: { first: 'respawn', otherwise: 'fail' },
  /** The decision was resolved before, or timed out. */
  decision_not_found: { first: 'note', otherwise: 'note' },
  /** After `retryAfterMs`. */
  rate_limited: { first: 'retry', otherwise: 'fail' },
  /** Shorten the conversation, then call again. */
  context_overflow: { first: 'compact', otherwise: 'fail' },
  /** A defect: capabilities are looked at before a call. */
  capability_unsupported: { first: 'note', otherwise: 'note' },
};
