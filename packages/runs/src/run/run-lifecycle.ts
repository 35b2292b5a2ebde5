import type { RunStatus } from '@signalbox/model';

const ended = ['completed', 'failed', 'stopped'] as const satisfies readonly RunStatus[];

/** Which status may follow which. A stopped or failed run can be resumed; a completed one cannot. */
const followers: Record<RunStatus, readonly RunStatus[]> = {
  queued: ['running', 'waiting', 'paused', 'failed', 'stopped'],
  running: ['waiting', 'paused', 'completed', 'failed', 'stopped', 'stalled'],
  waiting: ['running', 'paused', 'failed', 'stopped'],
  paused: ['running', 'waiting', 'failed', 'stopped'],
  stalled: ['running', 'paused', 'failed', 'stopped'],
  completed: [],
  failed: ['running'],
  stopped: ['running'],
};

export function mayRunFollow(from: RunStatus, to: RunStatus): boolean {
  return from === to || followers[from].includes(to);
}

/** Whether the run does nothing more unless it is resumed. */
export function hasRunEnded(status: RunStatus): boolean {
  return (ended as readonly RunStatus[]).includes(status);
}
