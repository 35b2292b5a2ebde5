import {
  canonicalJson,
  digest,
  eventId,
  type Json,
  type JsonObject,
  jsonObject,
  nodeId,
  utf8Length,
} from '@signalbox/model';
import * as z from 'zod';
import { capability, delimiterSafeId } from '../compile/compiled-workflow.ts';
import { blockerReport, loopLimit } from './blockers.ts';
import { boundedText, budgets } from './bounded-text.ts';
import { capabilityProvenance, capabilityStatus } from './capability.ts';
import { attemptId, capObsId, changeId, contextId, divergenceId, gapId, outputId, traceId } from './ids.ts';
import { preferenceChange, preferences } from './preferences.ts';
import { gapReason } from './reasons.ts';

/** The payloads of domain events, version 1. Frozen: a change of meaning is a version 2. */

export const runStartedData = z.strictObject({
  workflowId: boundedText('identifier').min(1),
  workflowHash: digest,
  workflowSourceKind: z.enum(['bundled', 'user', 'project', 'remote', 'plugin']),
  workflowSourceRef: boundedText('sourceRef'),
});

const nodeKind = z.enum(['step', 'checkpoint', 'blocked_attempt']);
export type NodeKind = z.infer<typeof nodeKind>;

export const nodeCreatedData = z.strictObject({
  nodeKind,
  /** Null only for the root of a run. */
  parentNodeId: nodeId.nullable(),
  workflowHash: digest,
  snapshotRef: digest,
});

/** An edge names the event that caused it. Advancing from a place that is not a tip is a fork, as its cause says. */
export const edgeCreatedData = z.discriminatedUnion('edgeKind', [
  z.strictObject({
    edgeKind: z.literal('acked_step'),
    fromNodeId: nodeId,
    toNodeId: nodeId,
    cause: z.strictObject({ kind: z.enum(['idempotent_replay', 'intentional_fork', 'non_tip_advance']), eventId }),
  }),
  z.strictObject({
    edgeKind: z.literal('checkpoint'),
    fromNodeId: nodeId,
    toNodeId: nodeId,
    cause: z.strictObject({ kind: z.literal('checkpoint_created'), eventId }),
  }),
]);

const advanceOutcome = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('blocked'), blockers: blockerReport }),
  z.strictObject({ kind: z.literal('advanced'), toNodeId: nodeId }),
]);
export const advanceRecordedData = z.strictObject({
  attemptId,
  intent: z.literal('ack_pending'),
  outcome: advanceOutcome,
});

export const outputPayload = z.discriminatedUnion('payloadKind', [
  z.strictObject({ payloadKind: z.literal('notes'), notesMarkdown: boundedText('notesMarkdown') }),
  z.strictObject({
    payloadKind: z.literal('artifact_ref'),
    sha256: digest,
    contentType: boundedText('identifier').min(1),
    byteLength: z.int().nonnegative(),
  }),
]);
export type OutputPayload = Readonly<z.infer<typeof outputPayload>>;

const outputChannel = z.enum(['recap', 'artifact']);
export type OutputChannel = z.infer<typeof outputChannel>;

export const nodeOutputAppendedData = z.strictObject({
  outputId,
  /** An earlier output of the same node and channel. */
  supersedesOutputId: outputId.optional(),
  outputChannel,
  payload: outputPayload,
});

export const preferencesChangedData = z
  .strictObject({
    changeId,
    source: z.enum(['user', 'workflow_recommendation', 'system']),
    delta: z
      .array(preferenceChange)
      .min(1)
      .refine(delta => new Set(delta.map(change => change.key)).size === delta.length, 'a key is changed twice'),
    effective: preferences,
  })
  .refine(({ delta, effective }) => delta.every(change => effective[change.key] === change.value), {
    path: ['effective'],
    error: 'the effective preferences do not hold the change',
  });

export const capabilityObservedData = z.strictObject({
  capObsId,
  capability,
  status: capabilityStatus,
  provenance: capabilityProvenance,
});

const observationKey = z.enum(['git_branch', 'git_head_sha', 'repo_root_hash', 'repo_root']);
export type ObservationKey = z.infer<typeof observationKey>;

const observationValue = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('short_string'), value: boundedText('shortString') }),
  z.strictObject({ type: z.literal('git_sha1'), value: z.string().regex(/^[0-9a-f]{40}$/, 'must be 40 hex digits') }),
  z.strictObject({ type: z.literal('sha256'), value: digest }),
  z.strictObject({ type: z.literal('path'), value: boundedText('path') }),
]);
export type ObservationValue = Readonly<z.infer<typeof observationValue>>;

export const observationRecordedData = z.strictObject({
  key: observationKey,
  value: observationValue,
  confidence: z.enum(['low', 'med', 'high']),
});

/** The person's answer to a gap, and the hash of what was shown. */
export const gapAnswer = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.enum(['approved', 'denied']),
    note: boundedText('answerText').optional(),
    shown: digest.optional(),
  }),
  z.strictObject({ kind: z.literal('answered'), value: boundedText('answerText'), shown: digest.optional() }),
]);
export type GapAnswer = Readonly<z.infer<typeof gapAnswer>>;

export const gapRecordedData = z.strictObject({
  gapId,
  severity: z.enum(['info', 'warning', 'critical']),
  reason: gapReason,
  summary: boundedText('summary').min(1),
  resolution: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('unresolved') }),
    z.strictObject({ kind: z.literal('resolves'), resolvesGapId: gapId }),
  ]),
  evidenceRefs: z
    .array(
      z.discriminatedUnion('kind', [
        z.strictObject({ kind: z.literal('event'), eventId }),
        z.strictObject({ kind: z.literal('output'), outputId }),
      ]),
    )
    .max(budgets.evidenceRefs)
    .optional(),
  /** Only if it resolves a gap that waited for the person. */
  answer: gapAnswer.optional(),
  details: loopLimit.optional(),
});

export const divergenceRecordedData = z.strictObject({
  divergenceId,
  reason: z.enum([
    'missing_user_context',
    'capability_unavailable',
    'efficiency_skip',
    'safety_stop',
    'policy_constraint',
  ]),
  summary: boundedText('summary').min(1),
  relatedStepId: delimiterSafeId.optional(),
});

const traceRef = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('step_id'), stepId: delimiterSafeId }),
  z.strictObject({ kind: z.literal('loop_id'), loopId: delimiterSafeId }),
  z.strictObject({ kind: z.literal('condition_id'), conditionId: delimiterSafeId }),
  z.strictObject({ kind: z.literal('iteration'), value: z.int().nonnegative() }),
]);
export type TraceRef = Readonly<z.infer<typeof traceRef>>;

export const traceEntry = z.strictObject({
  kind: z.enum([
    'selected_next_step',
    'evaluated_condition',
    'entered_loop',
    'exited_loop',
    'detected_non_tip_advance',
  ]),
  summary: boundedText('traceSummary'),
  refs: z.array(traceRef).max(budgets.traceRefs).optional(),
});
export type TraceEntry = Readonly<z.infer<typeof traceEntry>>;

export const decisionTraceAppendedData = z
  .strictObject({ traceId, entries: z.array(traceEntry).min(1).max(budgets.traceEntries) })
  .refine(data => utf8Length(canonicalJson(data)) <= budgets.traceTotal, {
    error: `a trace takes at most ${budgets.traceTotal} bytes`,
  });

/** Keys that a merge could mistake for something other than data. */
const RESERVED = new Set(['__proto__', 'constructor', 'prototype']);

export const runContext = jsonObject
  .refine(value => reservedKey(value) === undefined, {
    error: issue => `the key ${reservedKey(issue.input as Json)} is reserved`,
    abort: true,
  })
  .refine(value => utf8Length(canonicalJson(value)) <= budgets.context, {
    error: issue =>
      `takes ${utf8Length(canonicalJson(issue.input))} bytes of canonical JSON, the budget of context is ${budgets.context}`,
  }) as z.ZodType<JsonObject>;

export const contextSetData = z.strictObject({
  contextId,
  /** The whole context from here on. */
  context: runContext,
  source: z.enum(['initial', 'agent_delta', 'merge']),
});

/** The first reserved key at any depth. */
function reservedKey(value: Json): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  for (const [key, part] of Object.entries(value)) {
    const found = RESERVED.has(key) ? key : reservedKey(part);
    if (found !== undefined) return found;
  }
  return undefined;
}
