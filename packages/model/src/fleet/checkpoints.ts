import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { agentId, approvalId } from '../ids.ts';
import { jsonObject, text } from '../json.ts';
import { agentBrief } from './brief.ts';
import { count, name } from './scales.ts';

/** Where a vendor's session stands. Only its adapter can read it. */
export const sdkCheckpoint = z.discriminatedUnion('sdk', [
  z.strictObject({ sdk: z.literal('openai'), runStateJson: text }),
  z.strictObject({ sdk: z.literal('claude'), sessionId: text, lastMessageId: text.optional() }),
  z.strictObject({ sdk: z.literal('gemini'), sessionId: text, stateSnapshot: jsonObject.optional() }),
  /** Any agent that speaks ACP. */
  z.strictObject({ sdk: z.literal('acp'), agent: name, sessionId: text }),
  z.strictObject({ sdk: z.literal('mock'), scriptPosition: count }),
]);
export type SdkCheckpoint = Readonly<z.infer<typeof sdkCheckpoint>>;

/** The least that lets an agent go on, or nearly so. */
export const serializedAgentState = z.strictObject({
  agentId,
  pluginName: name,
  sessionId: text,
  checkpoint: sdkCheckpoint,
  briefSnapshot: agentBrief,
  conversationSummary: text.optional(),
  pendingDecisionIds: z.array(approvalId).readonly(),
  /** The `sourceSequence` of the last event; -1 if there was none. */
  lastSequence: z.int().min(-1),
  serializedAt: timestamp,
  serializedBy: z.enum(['pause', 'kill_grace', 'crash_recovery']),
  estimatedSizeBytes: count,
});
export type SerializedAgentState = Readonly<z.infer<typeof serializedAgentState>>;

/** The largest state that is accepted, and how many are kept for each agent. */
export const STATE_MAX_BYTES = 50 * 1024 * 1024;
export const CHECKPOINTS_KEPT = 3;

/** Without a request a kill has grace. */
export const killRequest = z.strictObject({ grace: z.boolean(), graceTimeoutMs: count.optional() });
export type KillRequest = Readonly<z.infer<typeof killRequest>>;

export const defaultKillRequest = { grace: true, graceTimeoutMs: 10_000 } as const satisfies KillRequest;

/** How long an agent may take to answer a kill without grace. */
export const FORCED_KILL_MS = 5000;

export const killResponse = z.strictObject({
  /** With grace, if it could be serialized. */
  state: serializedAgentState.optional(),
  artifactsExtracted: count,
  cleanShutdown: z.boolean(),
});
export type KillResponse = Readonly<z.infer<typeof killResponse>>;

/** What happens after a crash. Without it, a person decides. */
export const crashRecoveryPolicy = z.strictObject({
  autoRestart: z.boolean(),
  autoRestartConditions: z
    .strictObject({
      minTrustScore: z.number().min(0).max(100),
      maxConsecutiveCrashes: count,
      cooldownMs: count,
    })
    .optional(),
  preferResumeOverRestart: z.boolean(),
});
export type CrashRecoveryPolicy = Readonly<z.infer<typeof crashRecoveryPolicy>>;

export const defaultCrashRecovery = {
  autoRestart: false,
  autoRestartConditions: { minTrustScore: 70, maxConsecutiveCrashes: 3, cooldownMs: 30_000 },
  preferResumeOverRestart: true,
} as const satisfies CrashRecoveryPolicy;
