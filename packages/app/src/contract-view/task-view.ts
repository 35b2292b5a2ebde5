import type { TaskStatus, WireTask } from '@signalbox/model';
import type { Task } from '@signalbox/runs';

/** The statuses of work that has not ended. */
export const UNDER_WAY: readonly TaskStatus[] = ['pending', 'running', 'canceling'];

/** Work for surfaces: without its owner and its signature. */
export function taskView(task: Task): WireTask {
  const {
    leaseOwner: _owner,
    leaseExpiresAt: _expires,
    heartbeatAt: _heartbeat,
    signature: _signature,
    backoffMs: _backoff,
    handledFrame: _handled,
    ...shown
  } = task;
  return shown;
}
