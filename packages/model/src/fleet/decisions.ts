import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { agentId, approvalId, artifactId } from '../ids.ts';
import { jsonObject, text } from '../json.ts';
import { resolution } from './resolution.ts';
import { blastRadius, confidence, count, name, severity, tick } from './scales.ts';

/** One of the answers that an agent proposes. */
export const decisionOption = z.strictObject({
  id: name,
  label: text.min(1),
  description: text,
  /** What choosing it gains and loses. */
  tradeoffs: text.optional(),
});
export type DecisionOption = Readonly<z.infer<typeof decisionOption>>;

/** What the agent wants: one of its options, or a tool call. */
export const decisionSubject = z.discriminatedUnion('subtype', [
  z.strictObject({
    subtype: z.literal('option'),
    title: text.min(1),
    summary: text,
    options: z.array(decisionOption).min(1).readonly(),
    recommendedOptionId: name.optional(),
  }),
  z.strictObject({ subtype: z.literal('tool_approval'), toolName: name, toolArgs: jsonObject }),
]);
export type DecisionSubject = Readonly<z.infer<typeof decisionSubject>>;

/**
 * `open` waits for a person; `suspended` waits for a brake to be released. The others are final: `answered` by a person or a timeout
 * that answers, `expired` and `cancelled` without an answer, `withdrawn` because its subject is gone.
 */
export const decisionStatus = z.enum(['open', 'suspended', 'answered', 'expired', 'cancelled', 'withdrawn']);
export type DecisionStatus = z.infer<typeof decisionStatus>;

/** Why a decision stands out in the queue. */
export const decisionBadge = z.enum(['timed_out', 'agent_braked', 'agent_killed', 'reassigned']);
export type DecisionBadge = z.infer<typeof decisionBadge>;

/** A decision of an agent in the queue, with its risk filled in. */
export const decisionItem = z.strictObject({
  id: approvalId,
  /** The agent that raised it; it stays the same when another one is responsible. */
  agentId,
  /** The agent that is responsible now, if the first one is gone. Its trust follows from the answer. */
  reassignedTo: agentId.optional(),
  workstream: name,
  subject: decisionSubject,
  severity,
  confidence,
  blastRadius,
  affectedArtifactIds: z.array(artifactId).readonly(),
  requiresRationale: z.boolean(),
  status: decisionStatus,
  badges: z.array(decisionBadge).readonly(),
  raisedAtTick: tick,
  /** Null: it waits as long as it takes. */
  dueByTick: tick.nullable(),
  /** How many times its timeout was extended. */
  extensions: count,
  /** The place in the queue: the highest is first. */
  score: z.number(),
  resolution: resolution.optional(),
  /** A person's name, or `timeout`, or `system`. */
  closedBy: text.min(1).optional(),
  closedAtTick: tick.optional(),
});
export type DecisionItem = Readonly<z.infer<typeof decisionItem>>;

/** What happened to a decision. */
export const decisionAction = z.enum([
  'raised',
  'auto_approved',
  'answered',
  'delivered',
  'timed_out',
  'escalated',
  'extended',
  'expired',
  'cancelled',
  'suspended',
  'resumed',
  'orphaned',
  'triaged',
  'reassigned',
  'withdrawn',
]);
export type DecisionAction = z.infer<typeof decisionAction>;

/** One step of a decision's life, for the audit. */
export const decisionLogEntry = z.strictObject({
  decisionId: approvalId,
  agentId,
  action: decisionAction,
  /** A person's name, `system`, `timeout` or an agent id. */
  by: text.min(1),
  tick,
  at: timestamp,
  /** The rule or policy that applied, in words. */
  reason: text,
  resolution: resolution.optional(),
  reassignedTo: agentId.optional(),
});
export type DecisionLogEntry = Readonly<z.infer<typeof decisionLogEntry>>;

/** What happens to a decision that nobody answers in time. A timeout never approves what `alwaysEscalate` names (R40). */
export const decisionTimeoutPolicy = z.strictObject({
  /** Null: no timeout. */
  timeoutTicks: z.int().positive().nullable(),
  onTimeout: z.enum(['auto_recommend', 'escalate', 'cancel', 'extend']),
  /** How many times it is extended before it escalates; 2 by default. */
  maxExtensions: count.optional(),
});
export type DecisionTimeoutPolicy = Readonly<z.infer<typeof decisionTimeoutPolicy>>;

export const DEFAULT_MAX_EXTENSIONS = 2;

/** `triage` leaves it to a person; `reassign` gives it to an agent of the same role and workstream, or to a person if there is none. */
export const orphanedDecisionAction = z.enum(['triage', 'cancel', 'reassign']);
export type OrphanedDecisionAction = z.infer<typeof orphanedDecisionAction>;

/** What happens to the open decisions of an agent that was killed. */
export const orphanedDecisionPolicy = z.strictObject({
  default: orphanedDecisionAction,
  gracePeriodMs: count,
  perSubtype: z
    .strictObject({ option: orphanedDecisionAction.optional(), tool_approval: orphanedDecisionAction.optional() })
    .optional(),
});
export type OrphanedDecisionPolicy = Readonly<z.infer<typeof orphanedDecisionPolicy>>;

export const DEFAULT_ORPHAN_GRACE_MS = 30_000;
