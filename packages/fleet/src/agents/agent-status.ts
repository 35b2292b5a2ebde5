import type { AgentHandleStatus, NodeStatus } from '@signalbox/model';

/**
 * How an agent is, to the fleet. `starting` until its adapter answers; `killed` is for good, until somebody starts the agent again. Waiting
 * for a person is not stored: it follows from the decisions.
 */
export type AgentStatus = 'starting' | 'running' | 'paused' | 'completed' | 'error' | 'killed';

/** One of these tells a person at once what to do about an agent. */
export type AgentStanding = 'working' | 'waiting_for_you' | 'blocked' | 'done' | 'failed' | 'dead';

interface StatusFacts {
  /** The plugin contract's word. */
  readonly handle: AgentHandleStatus;
  /** Ours for the node that the agent occupies; the run contract's follows from it (R3). */
  readonly node: NodeStatus;
  readonly standing: AgentStanding;
}

/** One row for each status, and one for an agent that runs and waits for a person. */
export const agentStatusTable: { readonly [Status in AgentStatus | 'waiting_on_human']: StatusFacts } = {
  starting: { handle: 'running', node: 'scheduled', standing: 'working' },
  running: { handle: 'running', node: 'running', standing: 'working' },
  waiting_on_human: { handle: 'waiting_on_human', node: 'blocked', standing: 'waiting_for_you' },
  paused: { handle: 'paused', node: 'blocked', standing: 'blocked' },
  completed: { handle: 'completed', node: 'succeeded', standing: 'done' },
  error: { handle: 'error', node: 'failed', standing: 'failed' },
  killed: { handle: 'error', node: 'canceled', standing: 'dead' },
};
