import { digest, guidedRunStatus, json, nodeId, runId, sessionId } from '@signalbox/model';
import * as z from 'zod';
import { autonomy, riskPolicy } from './tool-inputs.ts';

/** The answers of the tools. Every answer about a run names its workflow, run and step, and says what to do next. */

const sourceKind = z.enum(['bundled', 'user', 'project', 'remote', 'plugin']);

const warning = z.strictObject({ code: z.string(), message: z.string() });

/** An example call; parts in angle brackets are to be replaced. */
const nextCall = z.strictObject({
  tool: z.enum(['start_workflow', 'continue_workflow', 'inspect_workflow', 'resume_session']),
  arguments: z.record(z.string(), json),
});

const workflowName = z.strictObject({ workflowId: z.string(), name: z.string(), workflowHash: digest });

const listing = z.strictObject({
  workflowId: z.string(),
  name: z.string(),
  description: z.string(),
  version: z.string(),
  idStatus: z.enum(['namespaced', 'legacy']),
  suggestedId: z.string().optional(),
  sourceKind,
  isRoutine: z.boolean(),
  /** Absent for a workflow that cannot be run; `refused` says why, in a line. */
  workflowHash: digest.optional(),
  refused: z.string().optional(),
});

export const listAnswer = z.strictObject({
  workflows: z.array(listing),
  /** Files that are not valid workflows, or could not be read. */
  problems: z.array(z.strictObject({ sourceKind, sourceRef: z.string(), code: z.string(), message: z.string() })),
  omittedProblems: z.int().nonnegative(),
  nextCall,
});

export const inspectAnswer = z.strictObject({
  workflow: workflowName,
  description: z.string(),
  version: z.string(),
  idStatus: z.enum(['namespaced', 'legacy']),
  canonicalId: z.string().optional(),
  suggestedId: z.string().optional(),
  sourceKind,
  preconditions: z.array(z.string()),
  clarificationPrompts: z.array(z.string()),
  recommendations: z.strictObject({ autonomy: autonomy.optional(), riskPolicy: riskPolicy.optional() }),
  capabilities: z.strictObject({
    required: z.array(z.string()),
    preferred: z.array(z.string()),
    disabled: z.array(z.string()),
  }),
  references: z.array(z.strictObject({ id: z.string(), title: z.string(), source: z.string(), purpose: z.string() })),
  /** In the order of the workflow, titles only; absent in mode `metadata`. */
  steps: z
    .array(z.strictObject({ stepId: z.string(), title: z.string(), kind: z.string(), loops: z.array(z.string()) }))
    .optional(),
  warnings: z.array(warning),
  nextCall,
});

const nextIntent = z.enum(['perform_pending_then_continue', 'await_user_confirmation', 'rehydrate_only', 'complete']);

const pending = z.strictObject({
  stepId: z.string(),
  /** The step with the iterations of the loops around it: `loop@0::step`. */
  stepInstanceKey: z.string(),
  title: z.string(),
  prompt: z.string(),
  /** Who wrote the step: the author, or a template or feature by its id. */
  provenance: z.strictObject({
    source: z.enum(['authored', 'template_injected', 'feature_injected']),
    originId: z.string().optional(),
  }),
});

const loopLimit = z.strictObject({
  loopId: z.string(),
  iteration: z.int().nonnegative(),
  maxIterations: z.int().nonnegative(),
});

const blocker = z.strictObject({
  code: z.enum([
    'USER_ONLY_DEPENDENCY',
    'MISSING_REQUIRED_OUTPUT',
    'INVALID_REQUIRED_OUTPUT',
    'REQUIRED_CAPABILITY_UNKNOWN',
    'REQUIRED_CAPABILITY_UNAVAILABLE',
    'INVARIANT_VIOLATION',
    'STORAGE_CORRUPTION_DETECTED',
  ]),
  pointer: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('context_key'), key: z.string() }),
    z.strictObject({ kind: z.literal('context_budget') }),
    z.strictObject({ kind: z.literal('output_contract'), contractRef: z.string() }),
    z.strictObject({ kind: z.literal('capability'), capability: z.string() }),
    z.strictObject({ kind: z.literal('workflow_step'), stepId: z.string() }),
  ]),
  message: z.string(),
  suggestedFix: z.string().optional(),
  details: loopLimit.optional(),
});

const gap = z.strictObject({
  gapId: z.string(),
  severity: z.enum(['info', 'warning', 'critical']),
  /** `contract_violation:missing_required_output` */
  reason: z.string(),
  summary: z.string(),
});

const preferences = z.strictObject({ autonomy, riskPolicy });

const handedIn = z.strictObject({
  outputId: z.string(),
  stepInstanceKey: z.string(),
  outputChannel: z.enum(['recap', 'artifact']),
  /** The first line of notes, or the beginning of an artifact. */
  excerpt: z.string(),
  /** All of it; only if outputIds asked for it. */
  content: json.optional(),
});

/** The person's decision about the pending step. Only their answer counts; what the agent says about it does not. */
const decision = z.strictObject({
  decisionId: z.string(),
  status: z.enum(['open', 'approved', 'denied']),
  note: z.string().optional(),
  /** How the person answers: a command, and a page of the console. */
  answerWith: z.string(),
  consolePath: z.string(),
});

/** A place in a run. */
const place = {
  workflow: workflowName,
  sessionId,
  runId,
  nodeId,
  stateToken: z.string(),
  /** Hands in the pending step. Absent when the workflow is complete or the answer is blocked. */
  ackToken: z.string().optional(),
  /** Saves unfinished work. Absent, too, in the answer of an advance: a rehydrate has it. */
  checkpointToken: z.string().optional(),
  isComplete: z.boolean(),
  /** The step to do now; null when the workflow is complete. */
  pending: pending.nullable(),
  nextIntent,
  /** Only if the step needs a person's approval. */
  decision: decision.optional(),
  nextCall: nextCall.nullable(),
  preferences,
  /** Open gaps of the run, newest last. */
  gaps: z.array(gap),
  omittedGaps: z.int().nonnegative(),
  warnings: z.array(warning),
  /** After a rehydrate: the latest outputs on the way here, newest last; each can be corrected with the next step. Absent if there are none. */
  outputs: z.array(handedIn).optional(),
};

/**
 * The answer of start and continue. A blocked answer stays at the place of the call: fix what `blockers` say, rehydrate for fresh tokens,
 * try again. One flat object, because clients want an object at the root.
 */
export const stepAnswer = z.strictObject({
  kind: z.enum(['ok', 'blocked']),
  ...place,
  /** Empty unless blocked. */
  blockers: z.array(blocker),
});

/** The walk continues from the checkpoint: its tokens are those of the new place, where the same step is pending. */
export const checkpointAnswer = z.strictObject({ checkpointNodeId: nodeId, ...place });

export const resumeAnswer = z.strictObject({
  candidates: z.array(
    z.strictObject({
      workflow: workflowName,
      sessionId,
      runId,
      nodeId,
      stateToken: z.string(),
      status: guidedRunStatus,
      /** Null when the run is complete. */
      pendingStep: z.strictObject({ stepId: z.string(), title: z.string() }).nullable(),
      whyMatched: z
        .array(
          z.enum(['matched_head_sha', 'matched_branch', 'matched_notes', 'matched_workflow_id', 'recency_fallback']),
        )
        .min(1),
      snippet: z.string(),
      /** The artifacts of the last step that had any, cut to a budget. Absent if there are none. */
      artifacts: z.array(z.string()).optional(),
      nextCall,
    }),
  ),
  /** Sessions that were skipped because their journals are damaged. */
  warnings: z.array(warning),
});

export type Warning = Readonly<z.infer<typeof warning>>;
export type NextCall = Readonly<z.infer<typeof nextCall>>;
export type ListAnswer = Readonly<z.infer<typeof listAnswer>>;
export type InspectAnswer = Readonly<z.infer<typeof inspectAnswer>>;
export type StepAnswer = Readonly<z.infer<typeof stepAnswer>>;
export type CheckpointAnswer = Readonly<z.infer<typeof checkpointAnswer>>;
export type ResumeAnswer = Readonly<z.infer<typeof resumeAnswer>>;
