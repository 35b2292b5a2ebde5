import { type Rng, type Timestamp, timerDue } from '@signalbox/model';
import type { Task } from './task.ts';
import type { TaskError } from './task-error.ts';
import { released } from './task-lifecycle.ts';

/** Retries of a task unless its author says otherwise, and the wait before the first (§7.3.1, §7.6.3). */
export const DEFAULT_MAX_RETRIES = 3;
export const DEFAULT_BACKOFF_MS = 1_000;

/** No wait of our own choosing is longer. */
export const MAX_BACKOFF_MS = 300_000;

/** The code of an attempt that its process gave up while it waited for a model. It was nobody's fault, and does not count. */
export const HELD_BACK = 'held-back';

export type RetryDecision =
  /** `task` waits until its `nextRetryAt`, also over a restart. */
  | { readonly kind: 'retry'; readonly task: Task; readonly waitMs: number }
  | { readonly kind: 'give-up'; readonly reason: 'terminal' | 'exhausted' | 'outcome-unknown' };

/**
 * What follows a failed attempt. Waits double from `backoffMs`, jittered down by up to half so that tasks which failed
 * together do not come back together, and are never shorter than what the provider asked for. Work whose outcome is
 * unknown is repeated only where repeating it does no harm (R17).
 */
export function decideRetry(task: Task, error: TaskError, now: number, rng: Rng): RetryDecision {
  if (error.class === 'terminal') return { kind: 'give-up', reason: 'terminal' };
  if (error.class === 'unknown' && task.effects === 'external') return { kind: 'give-up', reason: 'outcome-unknown' };
  if (error.code === HELD_BACK) return retryAfter(task, error, now, error.retryAfterMs ?? 0);
  if (task.retryCount >= task.maxRetries) return { kind: 'give-up', reason: 'exhausted' };
  const full = Math.min(task.backoffMs * 2 ** task.retryCount, MAX_BACKOFF_MS);
  const jittered = Math.round(full * (1 - fraction(rng) / 2));
  const waitMs = Math.max(jittered, error.retryAfterMs ?? 0);
  return retryAfter({ ...task, retryCount: task.retryCount + 1 }, error, now, waitMs);
}

function retryAfter(task: Task, lastError: TaskError, now: number, waitMs: number): RetryDecision {
  const nextRetryAt = new Date(now + waitMs).toISOString() as Timestamp;
  return { kind: 'retry', waitMs, task: { ...released(task), status: 'pending', nextRetryAt, lastError } };
}

/** How long a task has to wait still; 0 when it may start. */
export function retryWaitMs(task: Task, now: number): number {
  const due = dueAt(task);
  return due === undefined ? 0 : Math.max(0, Date.parse(due) - now);
}

/** When a task that waits for a time goes on: at its next attempt, or when its timer fires. */
export function dueAt({ nextRetryAt, blockReason }: Task): Timestamp | undefined {
  return nextRetryAt ?? timerDue(blockReason);
}

/** From 0 up to, not including, 1. */
export function fraction(rng: Rng): number {
  const bytes = Uint8Array.from(rng.bytes(4));
  return new DataView(bytes.buffer).getUint32(0) / 0x1_0000_0000;
}
