import * as z from 'zod';
import { artifactKind } from '../contract/artifact.ts';
import { digest } from '../digest.ts';
import { agentId, approvalId, artifactId, coherenceIssueId, messageId } from '../ids.ts';
import { json, jsonObject, text } from '../json.ts';
import { decisionOption } from './decisions.ts';
import { provenance } from './provenance.ts';
import { blastRadius, confidence, count, name, severity, tick } from './scales.ts';

/** Shared by all: the agent that the event is about. */
const ofAgent = <Type extends string, Fields extends z.core.$ZodLooseShape>(type: Type, fields: Fields) =>
  z.strictObject({ type: z.literal(type), agentId, ...fields });

/** What the agent is doing, in words. Text that has no other form becomes one, too. */
const statusEvent = ofAgent('status', { message: text, tick: tick.optional() });
export type StatusEvent = Readonly<z.infer<typeof statusEvent>>;

/** A person chooses between the agent's options. */
const optionDecisionEvent = ofAgent('decision', {
  subtype: z.literal('option'),
  decisionId: approvalId,
  title: text.min(1),
  summary: text,
  severity,
  confidence,
  blastRadius,
  options: z.array(decisionOption).min(1).readonly(),
  recommendedOptionId: name.optional(),
  affectedArtifactIds: z.array(artifactId).readonly(),
  requiresRationale: z.boolean(),
  /** Stamped by the backend if absent; null: no timeout. */
  dueByTick: tick.nullable().optional(),
});
export type OptionDecisionEvent = Readonly<z.infer<typeof optionDecisionEvent>>;

/** A person allows or rejects a tool call. Absent risk fields are filled in from the classifications of tools. */
const toolApprovalEvent = ofAgent('decision', {
  subtype: z.literal('tool_approval'),
  decisionId: approvalId,
  toolName: name,
  toolArgs: jsonObject,
  severity: severity.optional(),
  confidence: confidence.optional(),
  blastRadius: blastRadius.optional(),
  affectedArtifactIds: z.array(artifactId).readonly().optional(),
  dueByTick: tick.nullable().optional(),
});
export type ToolApprovalEvent = Readonly<z.infer<typeof toolApprovalEvent>>;

export const decisionEvent = z.discriminatedUnion('subtype', [optionDecisionEvent, toolApprovalEvent]);
export type DecisionEvent = Readonly<z.infer<typeof decisionEvent>>;

export const artifactStatus = z.enum(['draft', 'in_review', 'approved', 'rejected']);
export type ArtifactStatus = z.infer<typeof artifactStatus>;

/** The agent made or changed an artifact. An adapter may omit the workstream; the backend takes it from the brief. */
const artifactEvent = ofAgent('artifact', {
  artifactId,
  name,
  kind: artifactKind,
  workstream: name,
  status: artifactStatus,
  qualityScore: z.number().min(0).max(1),
  provenance,
  uri: text.min(1).optional(),
  mimeType: name.optional(),
  sizeBytes: count.optional(),
  contentHash: digest.optional(),
});
export type ArtifactEvent = Readonly<z.infer<typeof artifactEvent>>;

export const coherenceCategory = z.enum(['contradiction', 'duplication', 'gap', 'dependency_violation']);
export type CoherenceCategory = z.infer<typeof coherenceCategory>;

/** The agent, or a check of the backend, found that things do not fit together. */
const coherenceEvent = ofAgent('coherence', {
  issueId: coherenceIssueId,
  title: text.min(1),
  description: text,
  category: coherenceCategory,
  severity,
  affectedWorkstreams: z.array(name).readonly(),
  affectedArtifactIds: z.array(artifactId).readonly(),
});
export type CoherenceEvent = Readonly<z.infer<typeof coherenceEvent>>;

/** One phase of a tool call; `toolCallId` is the vendor's and ties the phases together. */
const toolCallEvent = ofAgent('tool_call', {
  toolCallId: name,
  toolName: name,
  phase: z.enum(['requested', 'running', 'completed', 'failed']),
  input: jsonObject,
  output: json.optional(),
  approved: z.boolean(),
  durationMs: z.number().nonnegative().optional(),
});
export type ToolCallEvent = Readonly<z.infer<typeof toolCallEvent>>;

const completionEvent = ofAgent('completion', {
  summary: text,
  artifactsProduced: z.array(artifactId).readonly(),
  decisionsNeeded: z.array(approvalId).readonly(),
  outcome: z.enum(['success', 'partial', 'abandoned', 'max_turns']),
  /** For every outcome but success. */
  reason: text.optional(),
});
export type CompletionEvent = Readonly<z.infer<typeof completionEvent>>;

const errorEvent = ofAgent('error', {
  severity,
  message: text.min(1),
  recoverable: z.boolean(),
  errorCode: name.optional(),
  category: z.enum(['provider', 'tool', 'model', 'timeout', 'internal']),
  context: z.strictObject({ toolName: name.optional(), lastAction: text.optional() }).optional(),
});
export type ErrorEvent = Readonly<z.infer<typeof errorEvent>>;

/** The agent started another one, or handed its work over. */
const delegationEvent = ofAgent('delegation', {
  action: z.enum(['spawned', 'handoff', 'returned']),
  childAgentId: agentId,
  childRole: name,
  reason: text,
  /** 0 for an agent that no other one started. */
  delegationDepth: count,
  rootAgentId: agentId,
});
export type DelegationEvent = Readonly<z.infer<typeof delegationEvent>>;

const guardrailEvent = ofAgent('guardrail', {
  guardrailName: name,
  level: z.enum(['input', 'output', 'tool']),
  /** True: it blocked. */
  tripped: z.boolean(),
  message: text,
});
export type GuardrailEvent = Readonly<z.infer<typeof guardrailEvent>>;

/** What was really done to the agent: a pause that was a kill says `killed`. */
const lifecycleEvent = ofAgent('lifecycle', {
  action: z.enum(['started', 'paused', 'resumed', 'killed', 'crashed', 'session_start', 'session_end']),
  reason: text.optional(),
});
export type LifecycleEvent = Readonly<z.infer<typeof lifecycleEvent>>;

const progressEvent = ofAgent('progress', {
  operationId: name,
  description: text,
  /** 0 to 100; null if it cannot be said. */
  progressPct: z.number().min(0).max(100).nullable(),
});
export type ProgressEvent = Readonly<z.infer<typeof progressEvent>>;

/** An event of the vendor's that has no other form here. */
const rawProviderEvent = ofAgent('raw_provider', {
  providerName: name,
  eventType: name,
  payload: jsonObject,
});
export type RawProviderEvent = Readonly<z.infer<typeof rawProviderEvent>>;

/** What the agent says, part by part. Parts are no facts: the final message is (T6). */
const assistantDeltaEvent = ofAgent('message.assistant.delta', { messageId, delta: text });
export type AssistantDeltaEvent = Readonly<z.infer<typeof assistantDeltaEvent>>;

/** A whole message of the agent. */
const assistantFinalEvent = ofAgent('message.assistant.final', { messageId, content: text });
export type AssistantFinalEvent = Readonly<z.infer<typeof assistantFinalEvent>>;

/** What one call of a model spent. A field that is absent is unknown, which is not zero (R31). */
const usageEvent = ofAgent('usage', {
  /** Unique in the adapter's session: a call that is reported again is counted once. */
  call: name,
  provider: name.optional(),
  model: name.optional(),
  inputTokens: count.optional(),
  outputTokens: count.optional(),
  cachedTokens: count.optional(),
  toolCalls: count.optional(),
  /** Millionths of a US dollar. */
  costMicroUsd: count.optional(),
  wallMs: count.optional(),
});
export type UsageEvent = Readonly<z.infer<typeof usageEvent>>;

/** Everything an agent can report, by `type`; `decision` has two subtypes. */
export const agentEvent = z.discriminatedUnion('type', [
  statusEvent,
  decisionEvent,
  artifactEvent,
  coherenceEvent,
  toolCallEvent,
  completionEvent,
  errorEvent,
  delegationEvent,
  guardrailEvent,
  lifecycleEvent,
  progressEvent,
  rawProviderEvent,
  assistantDeltaEvent,
  assistantFinalEvent,
  usageEvent,
]);
export type AgentEvent = Readonly<z.infer<typeof agentEvent>>;

export const agentEventType = z.enum([
  'status',
  'decision',
  'artifact',
  'coherence',
  'tool_call',
  'completion',
  'error',
  'delegation',
  'guardrail',
  'lifecycle',
  'progress',
  'raw_provider',
  'message.assistant.delta',
  'message.assistant.final',
  'usage',
]) satisfies z.ZodType<AgentEvent['type']>;
export type AgentEventType = AgentEvent['type'];

/** Whether an event may be dropped when an agent's queue is full (R22). A type that is not here must be given a priority. */
export const eventPriority: Readonly<Record<AgentEventType, 'kept' | 'droppable'>> = {
  status: 'droppable',
  decision: 'kept',
  artifact: 'kept',
  coherence: 'kept',
  tool_call: 'droppable',
  completion: 'kept',
  error: 'kept',
  delegation: 'kept',
  guardrail: 'kept',
  lifecycle: 'kept',
  progress: 'droppable',
  raw_provider: 'droppable',
  'message.assistant.delta': 'droppable',
  'message.assistant.final': 'kept',
  usage: 'kept',
};
