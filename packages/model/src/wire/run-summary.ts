import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { run } from '../contract/run.ts';
import { digest } from '../digest.ts';
import { runId, sessionId } from '../ids.ts';
import { json, text } from '../json.ts';
import { guidedRunStatus, runStatus } from '../status/run-status.ts';
import { thrownPlace } from '../thrown-place.ts';

/** The stored reason why a run or a task failed. */
export const wireFault = z.object({ class: text, code: text, message: text, thrown: thrownPlace.optional() });
export type WireFault = z.infer<typeof wireFault>;

const limit = z.int().nonnegative().optional();

/** The spending limits of a run and everything below it. */
export const wireLimits = z.strictObject({
  maxWallClockMs: limit,
  maxTotalTokens: limit,
  maxToolCalls: limit,
  maxCostMicroUsd: limit,
  maxRetriesPerTask: limit,
});

/** Stored fields of a run that the contract lacks. `status` is the stored one, which is more precise than the contract's. */
const wireRecord = z.object({
  id: runId,
  driver: z.enum(['plan', 'workflow', 'graph']),
  name: text,
  tags: z.array(text).readonly(),
  correlationId: text.optional(),
  status: runStatus,
  stopReason: text.optional(),
  /** Its process ended without stopping it: stored as running, shown as paused. */
  interrupted: z.literal(true).optional(),
  error: wireFault.optional(),
  origin: z
    .object({
      kind: z.enum(['sub-plan', 'fork', 'import']),
      run: runId,
      node: text.optional(),
      frame: z.int().optional(),
    })
    .optional(),
  /** The plan's file, or the workflow's id. */
  entry: text.optional(),
  /** The run's subject: the agents' working directory, or the source of its workspace. */
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
  /** Marked by a person to be kept, however old it gets. */
  kept: z.object({ at: timestamp, by: text }).optional(),
  /** Collected frames: only their events are left. */
  collected: z
    .array(z.object({ from: z.int().nonnegative(), to: z.int().nonnegative() }))
    .readonly()
    .optional(),
});
export type WireRecord = z.infer<typeof wireRecord>;

/** What drives a run: a plan on this server, or an agent elsewhere that is guided through a workflow. */
export const runKind = z.enum(['plan', 'guided']);
export type RunKind = z.infer<typeof runKind>;

/** The health of a journal; only the part before a defect is shown. */
export const journalHealth = z.enum(['healthy', 'corrupt_tail', 'corrupt_head', 'unknown_version']);

/** Fields that only guided runs have. */
const guidedFacts = z.object({
  sessionId,
  /** From its journal. */
  status: guidedRunStatus,
  workflowId: text.nullable(),
  workflowHash: digest.nullable(),
  pendingStep: z.object({ stepId: text, title: text }).nullable(),
  health: journalHealth,
});
export type GuidedFacts = z.infer<typeof guidedFacts>;

/** A run in a list: the contract's fields without members, and the stored ones beside them. */
export const runSummary = z.object({
  ...run.omit({ nodes: true, edges: true, artifacts: true }).shape,
  kind: runKind,
  /** Only for guided runs. */
  guided: guidedFacts.optional(),
  record: wireRecord,
  /** Whether the owning process is working on it. */
  driven: z.boolean(),
  openDecisions: z.int().nonnegative(),
  /** The time that a running run waits for, if nothing else in it is running. */
  until: timestamp.optional(),
});
export type RunSummary = z.infer<typeof runSummary>;

/** Newest first. */
export const runList = z.object({ runs: z.array(runSummary).readonly(), next: text.optional() });
export type RunList = z.infer<typeof runList>;

/** The input and output of a run. */
export const runValues = { input: json, output: json.optional() };
