import { Bug, type Json, type TaskStatus, type Timestamp } from '@signalbox/model';
import type { OwnerId } from '../ids.ts';
import type { Task } from './task.ts';
import type { TaskError } from './task-error.ts';

/** Which status may follow which. `pending` after an end is a new attempt, requested by an operator or a retry. */
const followers: Record<TaskStatus, readonly TaskStatus[]> = {
  pending: ['running', 'canceled', 'error'],
  running: ['pending', 'canceling', 'done', 'error', 'canceled', 'orphaned'],
  canceling: ['canceled', 'orphaned'],
  done: [],
  error: ['pending'],
  canceled: ['pending'],
  orphaned: ['pending', 'canceled', 'error'],
};

export function mayTaskFollow(from: TaskStatus, to: TaskStatus): boolean {
  return from === to || followers[from].includes(to);
}

/** Whether an owner is working on it, so that it is orphaned if the owner dies. */
export function isTaskUnderWay(status: TaskStatus): boolean {
  return status === 'running' || status === 'canceling';
}

export function startTask(task: Task, owner: OwnerId, at: Timestamp): Task {
  const { nextRetryAt: _, blockReason: __, ...rest } = task;
  return { ...rest, status: follow(task, 'running'), leaseOwner: owner, startedAt: at };
}

/** Ends the work. A task that is being canceled keeps its result, and counts as canceled (§7.3.4). */
export function finishTask(task: Task, result: Json, at: Timestamp): Task {
  const status = task.status === 'canceling' ? 'canceled' : 'done';
  return { ...released(task), status: follow(task, status), result, endedAt: at };
}

export function failTask(task: Task, error: TaskError, at: Timestamp): Task {
  const status = task.status === 'canceling' ? 'canceled' : 'error';
  return { ...released(task), status: follow(task, status), lastError: error, endedAt: at };
}

/** A task that has not started is canceled at once; a running one is asked to stop, and ends when it does. */
export function cancelTask(task: Task, at: Timestamp): Task {
  if (task.status === 'running') return { ...task, status: 'canceling' };
  return { ...released(task), status: follow(task, 'canceled'), endedAt: at };
}

function follow(task: Task, status: TaskStatus): TaskStatus {
  if (!mayTaskFollow(task.status, status)) throw new Bug(`task ${task.id} cannot go from ${task.status} to ${status}`);
  return status;
}

/** A task without an owner and without a wait. */
export function released(task: Task): Task {
  const { leaseOwner: _, leaseExpiresAt: __, heartbeatAt: ___, nextRetryAt: ____, blockReason: _____, ...rest } = task;
  return rest;
}
