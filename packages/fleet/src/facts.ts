import {
  adapterSessionId,
  agentId,
  approvalId,
  artifactId,
  artifactStatus,
  brakeAction,
  briefChanges,
  coherenceCategory,
  coherenceIssueId,
  controlMode,
  digest,
  json,
  pluginCapabilities,
  pluginError,
  resolution,
  runSeat,
  serializedAgentState,
  severity,
  text,
  timestamp,
  toolRiskClassification,
  uuid,
} from '@signalbox/model';
import * as z from 'zod';
import { fleetConfig } from './config.ts';
import { count, name } from './fields.ts';

/** `at` is when it happened, by the clock of the process that says so: the fleet has no other one. */
const of = <Kind extends string, Fields extends z.core.$ZodLooseShape>(kind: Kind, fields: Fields) =>
  z.strictObject({ kind: z.literal(kind), at: timestamp, ...fields });

/** A person's name, or `system`. */
const by = text.min(1);

/** The calls of a plugin. */
const pluginCall = z.enum(['spawn', 'pause', 'resume', 'kill', 'resolveDecision', 'injectContext', 'updateBrief']);
export type PluginCall = z.infer<typeof pluginCall>;

/**
 * Everything that can happen to a fleet. The log of these is its whole memory: the state and every effect follow from it. A persisted
 * shape is frozen; a change of one is another kind.
 */
export const fact = z.discriminatedUnion('kind', [
  // The project
  of('configured', { config: fleetConfig }),
  of('time_passed', {}),
  of('ticks_advanced', { by: z.int().positive() }),
  /** Another process took over: answers that nobody acknowledged are delivered again, and the time between is nobody's. */
  of('fleet_restarted', {}),
  of('mode_changed', { mode: controlMode, by }),

  // Agents
  of('plugin_registered', {
    pluginName: name,
    version: name,
    capabilities: pluginCapabilities,
    toolClassifications: z.array(toolRiskClassification).readonly(),
  }),
  /** A person wants an agent: a template, and what they changed of it. */
  of('agent_requested', {
    agentId,
    name,
    pluginName: name,
    template: briefChanges,
    changes: briefChanges,
    by,
  }),
  /** An adapter runs the agent: spawned, resumed or restarted. */
  of('agent_started', { agentId, session: adapterSessionId, sessionId: text }),
  of('pause_requested', { agentId, by, reason: text }),
  of('resume_requested', { agentId, by }),
  of('kill_requested', { agentId, by, reason: text }),
  of('restart_requested', { agentId, by }),
  /** The agent stands still. `silentAt` is its last sign of life, as measured. */
  of('agent_stopped', {
    agentId,
    how: z.enum(['paused', 'killed']),
    silentAt: timestamp,
    state: serializedAgentState.optional(),
  }),
  of('stop_failed', { agentId, reason: text }),
  of('agent_crashed', { agentId, reason: text }),
  of('health_polled', { agentId, isHealthy: z.boolean() }),
  of('checkpoint_stored', { agentId, state: serializedAgentState }),
  of('brief_changed', { agentId, changes: briefChanges, by }),
  /** `attempt` counts the same call from 1. */
  of('plugin_failed', { agentId, call: pluginCall, attempt: z.int().positive(), error: pluginError }),

  // Agents of plans, whose runs have the truth about their work
  /** A turn of a plan's agent begins: it is there already, and this is its next adapter session. */
  of('agent_joined', {
    agentId,
    name,
    pluginName: name,
    session: adapterSessionId,
    seat: runSeat,
    changes: briefChanges,
  }),
  /** Its turn is over: it failed, waits in its run without a process, or was cut off with its run. */
  of('agent_left', { agentId, as: z.enum(['done', 'failed', 'waiting', 'interrupted']), reason: text }),
  /** Its run asks a person. The decision is the run's. */
  of('run_decision_asked', { agentId, decisionId: approvalId }),
  of('run_decision_answered', { agentId, decisionId: approvalId, resolution, toolName: name.optional() }),

  // Events
  /** As received: the parsed message, or its text if that is no JSON. */
  of('event_received', { agentId, payload: json }),
  of('events_dropped', { agentId, count: z.int().positive() }),
  of('replay_unavailable', { agentId, fromSequence: count, toSequence: count }),

  // Decisions
  of('decision_answered', { decisionId: approvalId, resolution, by, proposalHash: digest.optional() }),
  of('decision_dismissed', { decisionId: approvalId, by, reason: text }),
  of('resolution_delivered', { decisionId: approvalId, agentId }),

  // Control
  of('brake_pulled', { brakeId: uuid, action: brakeAction }),
  of('brake_released', { brakeId: uuid, by }),

  // Knowledge and coherence
  of('artifact_reviewed', {
    artifactId,
    status: z.enum(['approved', 'rejected']),
    expectedVersion: count.optional(),
    by,
  }),
  of('artifact_changed', {
    artifactId,
    expectedVersion: count,
    changes: z.strictObject({ name: name.optional(), workstream: name.optional(), status: artifactStatus.optional() }),
    by,
  }),
  of('similarities_computed', {
    scan: count,
    scores: z.array(z.strictObject({ a: artifactId, b: artifactId, score: z.number().min(-1).max(1) })).readonly(),
  }),
  of('reviews_returned', {
    results: z
      .array(
        z.strictObject({
          candidateId: text.min(1),
          confirmed: z.boolean(),
          category: coherenceCategory.optional(),
          severity: severity.optional(),
          explanation: text,
          suggestedResolution: text.optional(),
          notifyAgentIds: z.array(agentId).readonly(),
        }),
      )
      .readonly(),
  }),
  of('issue_settled', {
    issueId: coherenceIssueId,
    /** `confirmed`: a person agrees with the agent that found it. */
    as: z.enum(['confirmed', 'investigating', 'resolved', 'dismissed']),
    by,
  }),
  /** A person found what agents should have. */
  of('issue_reported', {
    issueId: coherenceIssueId,
    title: text.min(1),
    description: text,
    category: coherenceCategory,
    severity,
    affectedWorkstreams: z.array(name).readonly(),
    affectedArtifactIds: z.array(artifactId).readonly(),
    missedBy: z.array(agentId).readonly(),
    by,
  }),
]);
export type Fact = Readonly<z.infer<typeof fact>>;
