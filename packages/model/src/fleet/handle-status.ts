import * as z from 'zod';
import type { ContractNodeStatus } from '../contract/node.ts';
import type { NodeStatus } from '../status/node-status.ts';

/** How an agent is, to its plugin. A crashed or killed agent is `error`; its lifecycle events tell which. */
export const agentHandleStatus = z.enum(['running', 'paused', 'waiting_on_human', 'completed', 'error']);
export type AgentHandleStatus = z.infer<typeof agentHandleStatus>;

/** The status of an agent in the other two vocabularies: of the node that it occupies, and of the contract (R3). */
export const handleStatusViews: Readonly<
  Record<AgentHandleStatus, { readonly node: NodeStatus; readonly contract: ContractNodeStatus }>
> = {
  running: { node: 'running', contract: 'running' },
  paused: { node: 'blocked', contract: 'blocked' },
  waiting_on_human: { node: 'blocked', contract: 'blocked' },
  completed: { node: 'succeeded', contract: 'idle' },
  error: { node: 'failed', contract: 'failed' },
};
