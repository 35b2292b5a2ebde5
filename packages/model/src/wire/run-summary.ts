import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { run } from '../contract/run.ts';
import { digest } from '../digest.ts';
import { runId, sessionId } from '../ids.ts';
import { json, text } from '../json.ts';
import { guidedRunStatus, runStatus } from '../status/run-status.ts';

/** Why a run or a task failed, as it is kept. */
export const wireFault = z.object({ class: text, code: text, message: text });
export type WireFault = z.infer<typeof wireFault>;

const limit = z.int().nonnegative().optional();

/** What a run and everything below it may spend. */
export const wireLimits = z.strictObject({
  maxWallClockMs: limit,
  maxTotalTokens: limit,
  maxToolCalls: limit,
  maxCostMicroUsd: limit,
  maxRetriesPerTask: limit,
});

/** What is stored of a run beyond the contract's fields. `status` is the stored one, which says more than the contract's. */
const wireRecord = z.object({
  id: runId,
  driver: z.enum(['plan', 'workflow', 'graph']),
  name: text,
  tags: z.array(text).readonly(),
  correlationId: text.optional(),
  status: runStatus,
  stopReason: text.optional(),
  error: wireFault.optional(),
  origin: z
    .object({
      kind: z.enum(['sub-plan', 'fork', 'import']),
      run: runId,
      node: text.optional(),
      frame: z.int().optional(),
    })
    .optional(),
  /** The plan's file, or the id of the workflow. */
  entry: text.optional(),
  /** What the run is about: where its agents work, or what the files were made of that are its own. */
  directory: text.optional(),
  limits: wireLimits,
  frames: z.int().nonnegative(),
  nextSeq: z.int().nonnegative(),
  /** The hash of its last event, chained to all before it. */
  head: digest,
  createdAt: timestamp,
  updatedAt: timestamp,
  startedAt: timestamp.optional(),
  endedAt: timestamp.optional(),
  /** Somebody wants it to stay, however old it gets. */
  kept: z.object({ at: timestamp, by: text }).optional(),
  /** Frames that were collected: of them only the events are left. */
  collected: z
    .array(z.object({ from: z.int().nonnegative(), to: z.int().nonnegative() }))
    .readonly()
    .optional(),
});
export type WireRecord = z.infer<typeof wireRecord>;

/** What moves a run on: a plan that this server drives, or an agent elsewhere that is guided through a workflow. */
export const runKind = z.enum(['plan', 'guided']);
export type RunKind = z.infer<typeof runKind>;

/** How a journal can be read; only what comes before a defect is shown. */
export const journalHealth = z.enum(['healthy', 'corrupt_tail', 'corrupt_head', 'unknown_version']);

/** What a guided run is beyond the fields of all runs. */
const guidedFacts = z.object({
  sessionId,
  /** As its journal has it. */
  status: guidedRunStatus,
  workflowId: text.nullable(),
  workflowHash: digest.nullable(),
  pendingStep: z.object({ stepId: text, title: text }).nullable(),
  health: journalHealth,
});
export type GuidedFacts = z.infer<typeof guidedFacts>;

/** A run in a list: the contract's fields without its members, and ours beside them. */
export const runSummary = z.object({
  ...run.omit({ nodes: true, edges: true, artifacts: true }).shape,
  kind: runKind,
  /** Of a guided run. */
  guided: guidedFacts.optional(),
  record: wireRecord,
  /** Whether something works on it in the process that owns it. */
  driven: z.boolean(),
  openDecisions: z.int().nonnegative(),
  /** The time that a running run waits for, where nothing else of it goes on. */
  until: timestamp.optional(),
});
export type RunSummary = z.infer<typeof runSummary>;

/** Newest first. */
export const runList = z.object({ runs: z.array(runSummary).readonly(), next: text.optional() });
export type RunList = z.infer<typeof runList>;

/** What a person gave a run, and what it gave back. */
export const runValues = { input: json, output: json.optional() };
