import type { AgentEvent, AgentId, LifecycleEvent, Timestamp } from '@signalbox/model';
import type { ActEffect, Effect } from '../effects.ts';
import type { InnerFact } from '../inner-facts.ts';
import type { Step } from '../step.ts';
import { withoutTrust } from '../trust/without-trust.ts';
import { type AgentRecord, type AgentState, HISTORY_KEPT } from './agent-state.ts';

/** A process is on its way to it; the one before is over. */
export function starting(agent: AgentRecord): AgentRecord {
  return { ...agent, status: 'starting', wanted: 'run', session: null, restartAt: null, startsFresh: false };
}

/** What leaves for an agent is without trust (R14). */
export function spawned(agent: AgentRecord): ActEffect {
  return { kind: 'spawn_agent', agentId: agent.id, pluginName: agent.pluginName, brief: withoutTrust(agent.brief) };
}

export function noted(agent: AgentRecord, at: Timestamp, tick: number, what: string): AgentRecord {
  return { ...agent, history: [...agent.history, { at, tick, what }].slice(-HISTORY_KEPT) };
}

export function saved(
  state: AgentState,
  agent: AgentRecord,
  effects: readonly (Effect | InnerFact)[] = [],
): Step<AgentState> {
  return { state: { ...state, agents: { ...state.agents, [agent.id]: agent } }, effects };
}

export function lifecycle(
  agentId: AgentId,
  at: Timestamp,
  action: LifecycleEvent['action'],
  reason?: string,
): InnerFact {
  const event: AgentEvent = { type: 'lifecycle', agentId, action, ...(reason === undefined ? {} : { reason }) };
  return { kind: 'own_event', at, event };
}
