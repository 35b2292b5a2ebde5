import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { artifactKind } from '../contract/artifact.ts';
import { digest } from '../digest.ts';
import { artifactStatus, coherenceCategory } from '../fleet/agent-event.ts';
import { agentHandle, pluginCapabilities } from '../fleet/agent-handle.ts';
import { brakeAction, brakeRecord } from '../fleet/brake.ts';
import { agentBrief, briefChanges } from '../fleet/brief.ts';
import { decisionItem } from '../fleet/decisions.ts';
import { provenance } from '../fleet/provenance.ts';
import { runSeat } from '../fleet/run-seat.ts';
import { controlMode, count, name, severity, tick } from '../fleet/scales.ts';
import { fleetMessage } from '../fleet/socket-messages.ts';
import { tickConfig } from '../fleet/ticks.ts';
import { trustChange, trustProfile, trustProfileName } from '../fleet/trust.ts';
import { agentId, approvalId, artifactId, coherenceIssueId, uuid } from '../ids.ts';
import { json, text } from '../json.ts';
import { wireDecision } from './decisions.ts';
import { pageLimit } from './requests.ts';

const reason = text.max(1024);

/** An agent of the fleet. */
const fleetAgent = z.object({
  id: agentId,
  name,
  pluginName: name,
  role: name,
  workstream: name,
  status: z.enum(['starting', 'running', 'paused', 'completed', 'error', 'killed']),
  /** An agent of a plan: its run, plan and node. */
  of: runSeat.optional(),
  /** What a person can do about it. */
  standing: z.enum(['working', 'waiting_for_you', 'blocked', 'done', 'failed', 'dead']),
  /** What it is blocked on, or why it stands still. */
  because: text.optional(),
  handle: agentHandle,
  /** Its sessions so far. */
  lives: count,
  requestedAt: timestamp,
  startedAt: timestamp.nullable(),
  lastEventAt: timestamp.nullable(),
  eventsEmitted: count,
  pendingDecisions: count,
  crashes: count,
  /** When it starts again by itself after a crash. */
  restartAt: timestamp.nullable(),
  trust: z.number(),
});
export type WireFleetAgent = z.infer<typeof fleetAgent>;

/** As many as the project has. */
export const fleetAgentList = z.object({ agents: z.array(fleetAgent).readonly() });

export const fleetAgentDetail = fleetAgent.extend({
  brief: agentBrief,
  capabilities: pluginCapabilities.optional(),
  /** The last 100 things that happened to it. */
  history: z.array(z.object({ at: timestamp, tick, what: text })).readonly(),
  /** Its states that it can be resumed from. */
  checkpoints: count,
  /** What became of its messages. */
  messages: z.record(text, count),
});
export type WireFleetAgentDetail = z.infer<typeof fleetAgentDetail>;

/** The body of `POST /api/agents/spawn`. */
export const spawnBody = z.strictObject({
  name,
  /** A plugin of this server. */
  plugin: name,
  /** The brief; the fleet adds the mode, the project and what the agent may know. */
  brief: briefChanges,
  /** Starts an agent again that was killed, completed or failed. */
  agentId: agentId.optional(),
});
export const killBody = z.strictObject({ reason: reason.min(1).optional() });
export const briefBody = briefChanges;

/** A decision that waits, of an agent or of a run. */
export const queuedDecision = z.discriminatedUnion('from', [
  z.object({
    from: z.literal('agent'),
    decision: decisionItem.extend({
      proposalHash: digest,
      /** What became of the answer on its way to the agent. */
      delivery: z.enum(['none', 'pending', 'done', 'impossible']),
      agentName: text,
    }),
  }),
  z.object({ from: z.literal('run'), approval: wireDecision }),
]);
export type QueuedDecision = z.infer<typeof queuedDecision>;

/** Those of agents first, most urgent first; then those of runs, oldest first. `more`: runs have more, which the approvals list. */
export const decisionQueueList = z.object({ decisions: z.array(queuedDecision).readonly(), more: z.boolean() });

export const brakeBody = brakeAction.omit({ initiatedBy: true, timestamp: true });
/** Without a brake, all that are engaged. */
export const releaseBody = z.strictObject({ brakeId: uuid.optional() });
/** Those that are engaged, and the last 50 that were released. */
export const brakeList = z.object({ brakes: z.array(brakeRecord).readonly() });
export type WireBrakes = z.infer<typeof brakeList>;

export const modeBody = z.strictObject({ mode: controlMode });
export const wireMode = z.object({ mode: controlMode });

export const wireTrust = trustProfile.extend({
  profile: trustProfileName,
  /** Scores stand still, and hypothetical ones move. */
  calibrationMode: z.boolean(),
});
export type WireTrust = z.infer<typeof wireTrust>;

/** The ledger of an agent, from the log and computed again from the facts. */
export const trustProof = z.object({
  agentId,
  /** Whether both are the same, change by change. */
  ok: z.boolean(),
  score: z.number(),
  computed: z.number(),
  changes: count,
  facts: count,
  /** The first change that differs: as recorded, and as computed. */
  difference: z.object({ recorded: trustChange.optional(), computed: trustChange.optional() }).optional(),
});
export type TrustProof = z.infer<typeof trustProof>;

export const simulateQuery = z.strictObject({ profile: trustProfileName });
export const trustSimulation = z.object({
  profile: trustProfileName,
  agentId,
  actual: z.number(),
  simulated: z.number(),
  /** Tool calls that would have been asked, or would not. */
  differences: z
    .array(
      z.object({
        decisionId: approvalId,
        agentId,
        toolName: name,
        tick,
        wasAsked: z.boolean(),
        wouldBeAsked: z.boolean(),
        reason: text,
        actualScore: z.number(),
        simulatedScore: z.number(),
      }),
    )
    .readonly(),
});
export type WireTrustSimulation = z.infer<typeof trustSimulation>;

export const wireTicks = z.object({ current: tick, config: tickConfig });
export const advanceBody = z.strictObject({ by: z.int().positive().max(100_000).optional() });

const coherenceIssue = z.object({
  id: coherenceIssueId,
  title: text,
  description: text,
  category: coherenceCategory,
  severity,
  status: z.enum(['open', 'investigating', 'confirmed', 'resolved', 'dismissed']),
  affectedWorkstreams: z.array(name).readonly(),
  affectedArtifactIds: z.array(artifactId).readonly(),
  foundBy: text,
  foundAt: timestamp,
  foundAtTick: tick,
});
/** The score, its change over the last ten ticks, and every issue. */
export const wireCoherence = z.object({
  score: z.number(),
  trend: z.number(),
  issues: z.array(coherenceIssue).readonly(),
});
export type WireCoherence = z.infer<typeof wireCoherence>;
export const settleBody = z.strictObject({ as: z.enum(['confirmed', 'investigating', 'resolved', 'dismissed']) });

const knownArtifact = z.object({
  id: artifactId,
  version: z.int().positive(),
  agentId,
  name,
  kind: artifactKind,
  workstream: name,
  status: artifactStatus,
  qualityScore: z.number(),
  provenance,
  uri: text.optional(),
  mimeType: name.optional(),
  sizeBytes: count.optional(),
  contentHash: digest.optional(),
  changedAt: timestamp,
  changedAtTick: tick,
});
export type WireKnownArtifact = z.infer<typeof knownArtifact>;
export const knownArtifactsQuery = z.strictObject({ workstream: name.optional() });
export const knownArtifactList = z.object({ artifacts: z.array(knownArtifact).readonly() });
export const reviewBody = z.strictObject({
  status: z.enum(['approved', 'rejected']),
  /** The version that was looked at; another one is refused. */
  expectedVersion: count.optional(),
});
export const reviewedArtifact = knownArtifact;

/** What is in the log of the project: newest first. `before` is the place of the last entry of the previous page. */
export const fleetLogQuery = z.strictObject({
  kind: z.enum(['event', 'decision', 'audit', 'trust', 'quarantined', 'brake', 'artifact', 'issue']),
  agent: agentId.optional(),
  status: name.optional(),
  before: text.max(64).optional(),
  limit: pageLimit(500),
});
export const fleetLog = z.object({
  entries: z
    .array(z.object({ place: text, id: text, agent: text.optional(), status: text.optional(), value: json }))
    .readonly(),
});
export type WireFleetLog = z.infer<typeof fleetLog>;

/** The same as a connection begins with. */
export const fleetOverview = z.object({ sync: fleetMessage, plugins: z.array(name).readonly() });
