import {
  type AgentRecord,
  agentHandle,
  agentStanding,
  brakesOn,
  coherenceScore,
  coherenceTrend,
  decisionQueue,
  type FleetDecision,
  type FleetState,
} from '@signalbox/fleet';
import type {
  AgentId,
  QueuedDecision,
  WireBrakes,
  WireCoherence,
  WireFleetAgent,
  WireFleetAgentDetail,
  WireKnownArtifact,
  WireTrust,
} from '@signalbox/model';

/** The fleet in the forms that surfaces show. Nothing here decides anything. */

function agentView(fleet: FleetState, agent: AgentRecord): WireFleetAgent {
  const { id, name, pluginName, brief, seat, status, lives, requestedAt, startedAt, lastEventAt, eventsEmitted } =
    agent;
  const { standing, handle, pendingDecisions } = agentStanding(fleet, id);
  const because = reasonOf(fleet, agent);
  return {
    id,
    name,
    pluginName,
    role: brief.role,
    workstream: brief.workstream,
    ...(seat === undefined ? {} : { of: seat }),
    status,
    standing,
    ...(because === undefined ? {} : { because }),
    handle: agentHandle(fleet, id) ?? { id, pluginName, status: handle, sessionId: '' },
    lives,
    requestedAt,
    startedAt,
    lastEventAt,
    eventsEmitted,
    pendingDecisions,
    crashes: agent.totalCrashes,
    restartAt: agent.restartAt,
    trust: fleet.trust[id]?.score ?? fleet.config.trust.config.initialScore,
  };
}

export function agentsView(fleet: FleetState): readonly WireFleetAgent[] {
  return Object.values(fleet.agents.agents).map(agent => agentView(fleet, agent));
}

export function agentDetail(fleet: FleetState, agent: AgentRecord): WireFleetAgentDetail {
  const capabilities = fleet.agents.plugins[agent.pluginName]?.capabilities;
  return {
    ...agentView(fleet, agent),
    brief: agent.brief,
    ...(capabilities === undefined ? {} : { capabilities }),
    history: agent.history,
    checkpoints: agent.checkpoints.length,
    messages: { ...fleet.pipeline.agents[agent.id]?.counts },
  };
}

/** What an agent is blocked on, in words; undefined if nothing holds it. */
function reasonOf(fleet: FleetState, { id, status, wanted, restartAt, history }: AgentRecord): string | undefined {
  const [brake] = brakesOn(fleet.control, id);
  if (brake !== undefined) return `A brake holds it: ${brake.action.reason}`;
  if (status === 'paused') return wanted === 'pause' ? 'It was paused.' : 'It is between two sessions.';
  if (status === 'error' && restartAt !== null) return `It starts again at ${restartAt}.`;
  if (status === 'error' || status === 'killed') return history.at(-1)?.what;
  return undefined;
}

export function decisionView(fleet: FleetState, item: FleetDecision): Extract<QueuedDecision, { from: 'agent' }> {
  const {
    session: _,
    isOwn: _own,
    number: _number,
    timeout: _timeout,
    suspendedAt: _at,
    orphanUntil: _until,
    raisedAt: _raised,
    ...shown
  } = item;
  const agentName = fleet.agents.agents[item.reassignedTo ?? item.agentId]?.name ?? item.agentId;
  return { from: 'agent', decision: { ...shown, agentName } };
}

export function queueView(fleet: FleetState): readonly Extract<QueuedDecision, { from: 'agent' }>[] {
  return decisionQueue(fleet.decisions).map(item => decisionView(fleet, item));
}

export function brakesView({ control }: FleetState): WireBrakes {
  return { brakes: Object.values(control.brakes).map(({ engagedAt: _, ...brake }) => brake) };
}

export function trustView({ trust, config }: FleetState, agent: AgentId): WireTrust | undefined {
  const earned = trust[agent];
  if (earned === undefined) return undefined;
  const { decayed: _, ...profile } = earned;
  return { ...profile, profile: config.trust.name, calibrationMode: config.trust.config.calibrationMode };
}

export function coherenceView({ coherence, ticks }: FleetState): WireCoherence {
  return {
    score: coherenceScore(coherence),
    trend: coherenceTrend(coherence, ticks.current),
    issues: Object.values(coherence.issues),
  };
}

export function artifactsView({ knowledge }: FleetState, workstream?: string): readonly WireKnownArtifact[] {
  const all = Object.values(knowledge.artifacts);
  return workstream === undefined ? all : all.filter(artifact => artifact.workstream === workstream);
}
