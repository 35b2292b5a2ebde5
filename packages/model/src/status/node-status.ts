import * as z from 'zod';
import type { ContractNodeStatus } from '../contract/node.ts';

/** A node's status as it is stored. `skipped` is the branch that was not taken. */
export const nodeStatus = z.enum([
  'idle',
  'scheduled',
  'running',
  'succeeded',
  'failed',
  'blocked',
  'canceled',
  'abandoned',
  'skipped',
]);
export type NodeStatus = z.infer<typeof nodeStatus>;

/** A task's status as it is stored. */
export const taskStatus = z.enum(['pending', 'running', 'canceling', 'done', 'error', 'canceled', 'orphaned']);
export type TaskStatus = z.infer<typeof taskStatus>;

const contractView: Record<NodeStatus, ContractNodeStatus> = {
  idle: 'idle',
  scheduled: 'idle',
  running: 'running',
  succeeded: 'idle',
  failed: 'failed',
  blocked: 'blocked',
  canceled: 'idle',
  abandoned: 'failed',
  skipped: 'idle',
};

export function toContractNodeStatus(status: NodeStatus): ContractNodeStatus {
  return contractView[status];
}
