import * as z from 'zod';
import type { ContractRunStatus } from '../contract/run.ts';

/** A run's stored status. `waiting`: only a person can move it forward. */
export const runStatus = z.enum([
  'queued',
  'running',
  'waiting',
  'paused',
  'completed',
  'failed',
  'stopped',
  'stalled',
]);
export type RunStatus = z.infer<typeof runStatus>;

/** A guided run's status in its journal. */
export const guidedRunStatus = z.enum(['in_progress', 'blocked', 'complete', 'complete_with_gaps']);
export type GuidedRunStatus = z.infer<typeof guidedRunStatus>;

const contractView: Record<RunStatus, ContractRunStatus> = {
  queued: 'queued',
  running: 'running',
  waiting: 'paused',
  paused: 'paused',
  completed: 'completed',
  failed: 'failed',
  stopped: 'failed',
  stalled: 'paused',
};

const guidedView: Record<GuidedRunStatus, ContractRunStatus> = {
  in_progress: 'running',
  blocked: 'paused',
  complete: 'completed',
  complete_with_gaps: 'completed',
};

/** The contract's view of a stored status; `stopReason` explains `stopped`, which it can only show as failed. */
export function toContractRunStatus(
  status: RunStatus,
  stopReason = 'stopped',
): { readonly status: ContractRunStatus; readonly stopReason?: string } {
  return status === 'stopped' ? { status: contractView.stopped, stopReason } : { status: contractView[status] };
}

export function guidedToContractRunStatus(status: GuidedRunStatus): ContractRunStatus {
  return guidedView[status];
}
