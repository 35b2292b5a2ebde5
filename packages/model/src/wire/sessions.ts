import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { digest } from '../digest.ts';
import { nodeId, runId, sessionId } from '../ids.ts';
import { jsonObject, text } from '../json.ts';
import { guidedRunStatus } from '../status/run-status.ts';
import { journalHealth as health } from './run-summary.ts';

const count = z.int().nonnegative();

/** A run of a guided session in a list. */
const sessionRun = z.object({
  runId,
  workflowId: text.nullable(),
  workflowHash: digest.nullable(),
  name: text.nullable(),
  status: guidedRunStatus,
  preferredTip: nodeId.nullable(),
  pendingStep: z.object({ stepId: text, title: text }).nullable(),
});

const common = {
  sessionId,
  health,
  events: count,
  head: digest,
  isKept: z.boolean(),
  lastActiveAt: timestamp,
  omittedRuns: count,
};

const sessionSummary = z.object({
  ...common,
  runs: z.array(sessionRun).readonly(),
  /** Gaps that a person must answer. */
  waiting: count,
  branch: text.nullable(),
  repository: text.nullable(),
  recap: text.nullable(),
});
export type SessionSummary = z.infer<typeof sessionSummary>;

/** Most recently written first; `next` is the cursor of the next page. */
export const sessionList = z.object({ sessions: z.array(sessionSummary).readonly(), next: text.optional() });
export type SessionList = z.infer<typeof sessionList>;

/** A gap of a session; open until it is resolved. */
const sessionGap = z.object({
  gapId: text,
  nodeId,
  severity: z.enum(['info', 'warning', 'critical']),
  reason: z.object({ category: text, detail: text }),
  summary: text,
  resolvedBy: text.optional(),
  answer: z.looseObject({ kind: text }).optional(),
  /** The hash of the shown text: an answer that carries it is refused if the gap has changed. */
  shown: digest,
});
export type SessionGap = z.infer<typeof sessionGap>;

/** A gap after it was answered. */
export const answeredGap = sessionGap.omit({ shown: true });

/** A place in a run's graph: its pending step, and the notes taken on the way there. */
const sessionNode = z.object({
  nodeId,
  nodeKind: text,
  parentNodeId: nodeId.nullable(),
  isLeaf: z.boolean(),
  isOnPreferredPath: z.boolean(),
  step: z.object({ key: text, title: text }).nullable(),
  notes: text.optional(),
  /** Why the last attempt here failed; absent if it succeeded. */
  blockers: z
    .array(z.object({ code: text, message: text, suggestedFix: text.optional() }))
    .readonly()
    .optional(),
});
export type SessionNode = z.infer<typeof sessionNode>;

export const sessionDetail = z.object({
  ...common,
  /** Only the part before a defect is shown. */
  isSalvaged: z.boolean(),
  defect: z.object({ code: text, reason: text }).optional(),
  workspace: z.record(z.string(), text),
  runs: z
    .array(
      z.object({
        runId,
        workflow: z.object({ workflowId: text, workflowHash: digest }).optional(),
        name: text.optional(),
        status: guidedRunStatus,
        preferences: z.record(z.string(), text),
        preferredTip: nodeId.optional(),
        /** How the workflow's source compares with the run's pin. */
        source: z.discriminatedUnion('kind', [
          z.object({ kind: z.literal('as_pinned') }),
          z.object({ kind: z.literal('changed'), workflowHash: digest }),
          z.object({ kind: z.literal('gone') }),
        ]),
        nodes: z.array(sessionNode).readonly(),
        omittedNodes: count,
        gaps: z.array(sessionGap).readonly(),
        recap: text.optional(),
      }),
    )
    .readonly(),
});
export type SessionDetail = z.infer<typeof sessionDetail>;

/** A person's answer to a gap. */
export const gapAnswerBody = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.enum(['approved', 'denied']), note: text.optional(), shown: digest.optional() }),
  z.strictObject({ kind: z.literal('answered'), value: text, shown: digest.optional() }),
]);

/** Starts a guided session for an agent. */
export const startSessionBody = z.strictObject({
  workflowId: text.min(1).max(200),
  /** Facts for the workflow, by name. */
  context: jsonObject.optional(),
  /** The directory of the work; an agent that works there finds the session first. */
  workspacePath: text.min(1).max(4096).optional(),
  /** The agent's autonomy; the configured one by default. */
  preferences: z
    .strictObject({
      autonomy: z.enum(['guided', 'full_auto_stop_on_user_deps', 'full_auto_never_stop']).optional(),
      riskPolicy: z.enum(['conservative', 'balanced', 'aggressive']).optional(),
    })
    .optional(),
});

/** The started session. It contains no tokens: the agent asks for its place. */
export const startedSession = z.object({ sessionId, runId, workflowId: text });

/** A workflow of the catalogue. One without a hash cannot be started; `problems` say why. */
export const workflowList = z.object({
  workflows: z
    .array(
      z.looseObject({
        workflowId: text,
        name: text,
        description: text,
        sourceKind: text,
        workflowHash: digest.optional(),
      }),
    )
    .readonly(),
  problems: z.array(z.object({ sourceKind: text, sourceRef: text, code: text, message: text })).readonly(),
  omittedProblems: count,
  /** The cursor of the next page of workflows. */
  next: text.optional(),
});

/** A workflow as an agent sees it before the start. */
export const workflowDetail = z.looseObject({
  description: text,
  version: text,
  sourceKind: text,
  preconditions: z.array(text).readonly(),
  clarificationPrompts: z.array(text).readonly(),
  steps: z
    .array(z.object({ stepId: text, title: text, kind: text, loops: z.array(text).readonly() }))
    .readonly()
    .optional(),
});
