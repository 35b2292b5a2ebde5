import { type Clock, type Timestamp, timerReason } from '@signalbox/model';
import type { TimerNode } from '../nodes/plan-node.ts';
import type { TaskOutcome } from './task-executor.ts';

/** Succeeds once its time has come, and waits until then. */
export function runTimer(due: Timestamp, clock: Clock): TaskOutcome {
  return Date.parse(due) <= clock.now() ? { kind: 'done', output: due } : { kind: 'blocked', reason: timerReason(due) };
}

/** The due time of a timer that is reached now. */
export function dueOf({ until, forMs = 0 }: TimerNode['data'], reached: Timestamp): Timestamp {
  return until ?? (new Date(Date.parse(reached) + forMs).toISOString() as Timestamp);
}
