import { agentHandle, type Effect, type FleetState, knowledgeSnapshot } from '@signalbox/fleet';
import type { AgentId, FleetMessage, Timestamp } from '@signalbox/model';

/** Called with every message about a fleet, once what it says is durable. */
export type FleetListener = (message: FleetMessage) => void;

/** The complete state, which a watcher begins with. */
export function stateSync(fleet: FleetState, at: Timestamp): FleetMessage {
  const ids = Object.keys(fleet.agents.agents) as AgentId[];
  // Whoever watches reads every workstream, and works in none.
  const reader = { workstream: '', readable: workstreamsOf(fleet) };
  const snapshot = knowledgeSnapshot(fleet, reader, at, fleet.config.snapshotTokens);
  return {
    type: 'state_sync',
    snapshot: { ...snapshot, workstreams: snapshot.workstreams.filter(({ id }) => id !== '') },
    activeAgents: ids.map(id => agentHandle(fleet, id)).filter(handle => handle !== undefined),
    trustScores: Object.values(fleet.trust).map(({ agentId, score }) => ({ agentId, score })),
    controlMode: fleet.control.mode,
  };
}

function workstreamsOf({ agents, knowledge }: FleetState): readonly string[] {
  const named = [
    ...Object.values(agents.agents).map(({ brief }) => brief.workstream),
    ...Object.values(knowledge.artifacts).map(({ workstream }) => workstream),
  ];
  return [...new Set(named)];
}

/** The messages that follow from one fact, in order. */
export function messagesOf(effects: readonly Effect[], fleet: FleetState, at: Timestamp): readonly FleetMessage[] {
  return effects.flatMap((effect): FleetMessage[] => {
    switch (effect.kind) {
      case 'publish_event': {
        const { primary, secondary } = effect.route;
        const secondaryWorkspaces = secondary.map(({ area }) => area);
        return [{ type: 'event', workspace: primary?.area ?? null, secondaryWorkspaces, envelope: effect.envelope }];
      }
      case 'sync_state':
        return [stateSync(fleet, at)];
      case 'save_trust': {
        const { agentId, previousScore, newScore, reason } = effect.change;
        if (newScore === previousScore) return [];
        return [{ type: 'trust_update', agentId, previousScore, newScore, delta: newScore - previousScore, reason }];
      }
      case 'save_brake': {
        const { action, agents } = effect.brake;
        return [{ type: 'brake', action, affectedAgentIds: agents.map(({ agentId }) => agentId), agents }];
      }
      case 'audit': {
        const { entry } = effect;
        if (entry.subject !== 'decision' || entry.resolution === undefined) return [];
        const { decisionId, resolution, agentId } = entry;
        return [{ type: 'decision_resolved', decisionId, resolution, agentId }];
      }
      default:
        return [];
    }
  });
}
