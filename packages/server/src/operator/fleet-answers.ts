import type { WireBrakes, WireFleetAgent, WireKnownArtifact } from '@signalbox/model';
import { agentId, approvalId, controlMode, json, type QueuedDecision, timestamp } from '@signalbox/model';
import * as z from 'zod';

/** The answers of the fleet's tools: what an operator needs to act, with names like those of the specification. */
const count = z.int().nonnegative();

export const fleetAgentSchema = z.object({
  id: agentId,
  name: z.string(),
  role: z.string(),
  workstream: z.string(),
  standing: z
    .enum(['working', 'waiting_for_you', 'blocked', 'done', 'failed', 'dead'])
    .describe('"waiting_for_you": read its decisions.'),
  because: z.string().nullable().describe('What holds it, or why it stands still.'),
  pending_decisions: count,
  pending_brief_changes: z.array(z.string()).describe('Fields of its brief that it learns at its next start.'),
  crashes: count,
  last_event_at: timestamp.nullable(),
});

export const fleetDecisionSchema = z.object({
  id: approvalId,
  agent_id: agentId,
  agent_name: z.string(),
  status: z.string(),
  severity: z.string(),
  blast_radius: z.string().describe('How much it can affect; "unknown" is the most.'),
  badges: z.array(z.string()).describe('timed_out, agent_braked, agent_killed, reassigned.'),
  due_by_tick: count.nullable(),
  requires_rationale: z.boolean(),
  payload: json.describe('The tool and its arguments, or the options with the recommended one.'),
  answer: json.describe('The answer; null while it waits.'),
});

export const fleetStateSchema = z.object({
  control_mode: controlMode,
  tick: count,
  agents: z.array(fleetAgentSchema),
  decisions: z.array(fleetDecisionSchema).describe('Those that wait, most urgent first.'),
  brakes: z
    .array(
      z.object({
        id: z.string(),
        reason: z.string(),
        scope: json,
        behavior: z.enum(['pause', 'kill']),
        agents: z.array(
          z.object({
            agent_id: agentId,
            outcome: z.string(),
            silent_after_ms: z.number().nullable().describe('Null until it is silent.'),
            refused_events: count,
          }),
        ),
      }),
    )
    .describe('Those that are engaged, with what each agent did.'),
});

export const fleetTrustSchema = z.object({
  agent_id: agentId,
  score: z.number(),
  hypothetical_score: z.number().describe('What it would be without calibration mode.'),
  profile: z.string(),
  samples: count,
  recent_changes: z.array(json).describe('The last 20, oldest first.'),
  proof: json.nullable().describe('The score computed again from the log, if that was asked for.'),
});

export const fleetKnowledgeSchema = z.object({
  coherence_score: z.number(),
  issues: z.array(json).describe('Contradictions, duplicates, gaps and violated dependencies.'),
  artifacts: z.array(
    z.object({
      id: z.string(),
      name: z.string(),
      workstream: z.string(),
      agent_id: agentId,
      status: z.string(),
      version: count,
      uri: z.string().nullable(),
    }),
  ),
});

export function agentShown(agent: WireFleetAgent): z.infer<typeof fleetAgentSchema> {
  const { id, name, role, workstream, standing, because, pendingDecisions, crashes, lastEventAt, handle } = agent;
  return {
    ...{ id, name, role, workstream, standing, crashes },
    because: because ?? null,
    pending_decisions: pendingDecisions,
    pending_brief_changes: Object.keys(handle.pendingBriefChanges ?? {}),
    last_event_at: lastEventAt,
  };
}

export function decisionShown({
  decision,
}: Extract<QueuedDecision, { from: 'agent' }>): z.infer<typeof fleetDecisionSchema> {
  const {
    id,
    agentId: agent_id,
    agentName,
    status,
    severity,
    blastRadius,
    badges,
    dueByTick,
    requiresRationale,
  } = decision;
  return {
    ...{ id, agent_id, status, severity },
    agent_name: agentName,
    blast_radius: blastRadius,
    badges: [...badges],
    due_by_tick: dueByTick,
    requires_rationale: requiresRationale,
    payload: json.parse(decision.subject),
    answer: json.parse(decision.resolution ?? null),
  };
}

export function brakesShown({ brakes }: WireBrakes): z.infer<typeof fleetStateSchema>['brakes'] {
  return brakes
    .filter(({ released }) => released === undefined)
    .map(({ id, action: { reason, scope, behavior }, agents }) => ({
      ...{ id, reason, behavior },
      scope: json.parse(scope),
      agents: agents.map(({ agentId: agent_id, outcome, silentAfterMs, refusedEvents }) => ({
        ...{ agent_id, outcome },
        silent_after_ms: silentAfterMs,
        refused_events: refusedEvents,
      })),
    }));
}

export function artifactLine(artifact: WireKnownArtifact): z.infer<typeof fleetKnowledgeSchema>['artifacts'][number] {
  const { id, name, workstream, agentId: agent_id, status, version, uri } = artifact;
  return { id, name, workstream, agent_id, status, version, uri: uri ?? null };
}
