import * as z from 'zod';
import type { ContractNodeStatus } from '../contract/node.ts';

/** A node's stored status. `skipped`: in a branch that was not taken. */
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

/** A task's stored status. */
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
