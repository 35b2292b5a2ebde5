import type { AgentHandle, AgentHandleStatus, AgentId, NodeStatus } from '@signalbox/model';
import { isWaiting, responsibleFor } from '../decisions/decision-state.ts';
import type { FleetState } from '../fleet-state.ts';
import { type AgentStanding, agentStatusTable } from './agent-status.ts';

/** How an agent is now, in the words of each who asks. */
export interface StandingView {
  readonly handle: AgentHandleStatus;
  readonly node: NodeStatus;
  readonly standing: AgentStanding;

  readonly pendingDecisions: number;
}

/** An agent that nobody knows is dead. */
export function agentStanding({ agents, decisions }: FleetState, agentId: AgentId): StandingView {
  const agent = agents.agents[agentId];
  const own = Object.values(decisions.items).filter(item => isWaiting(item) && responsibleFor(item) === agentId).length;
  const pendingDecisions = own + (agent?.asks?.length ?? 0);
  const status = agent?.status ?? 'killed';
  // An agent of a plan that asks needs no process meanwhile.
  const isParked = status === 'paused' && agent?.seat !== undefined && agent.wanted === 'run';
  const isAsking = (status === 'running' || isParked) && pendingDecisions > 0;
  return { ...agentStatusTable[isAsking ? 'waiting_on_human' : status], pendingDecisions };
}

/** The plugin contract's handle of an agent; undefined if there is no such agent. */
export function agentHandle(fleet: FleetState, agentId: AgentId): AgentHandle | undefined {
  const agent = fleet.agents.agents[agentId];
  if (agent === undefined) return undefined;
  const { pendingBriefChanges } = agent;
  return {
    id: agent.id,
    pluginName: agent.pluginName,
    status: agentStanding(fleet, agentId).handle,
    sessionId: agent.sessionId ?? '',
    ...(pendingBriefChanges === null ? {} : { pendingBriefChanges }),
  };
}
