import { type Rng, type Timestamp, timerDue } from '@signalbox/model';
import type { Task } from './task.ts';
import type { TaskError } from './task-error.ts';
import { released } from './task-lifecycle.ts';

export const DEFAULT_BACKOFF_MS = 1_000;

/** The longest wait that Signalbox chooses itself. */
export const MAX_BACKOFF_MS = 300_000;

/** The code of an attempt that its process gave up while waiting for a model. It is not a failure and does not count. */
export const HELD_BACK = 'held-back';

export type RetryDecision =
  /** `task` waits until its `nextRetryAt`, even across a restart. */
  | { readonly kind: 'retry'; readonly task: Task; readonly waitMs: number }
  | { readonly kind: 'give-up'; readonly reason: 'terminal' | 'exhausted' | 'outcome-unknown' };

/** How waits grow; they double up to five minutes by default. */
export interface RetryGrowth {
  readonly factor?: number;
  readonly maxMs?: number | undefined;
}

/**
 * What follows a failed attempt. Waits double from `backoffMs`, with up to half of jitter subtracted so that tasks which failed together do
 * not return together, and are never shorter than the provider asked. Work with an unknown outcome is repeated only if that does no harm
 * (R17).
 */
export function decideRetry(
  task: Task,
  error: TaskError,
  now: number,
  rng: Rng,
  { factor = 2, maxMs = MAX_BACKOFF_MS }: RetryGrowth = {},
): RetryDecision {
  if (error.class === 'terminal') return { kind: 'give-up', reason: 'terminal' };
  if (error.class === 'unknown' && task.effects === 'external') return { kind: 'give-up', reason: 'outcome-unknown' };
  if (error.code === HELD_BACK) return retryAfter(task, error, now, error.retryAfterMs ?? 0);
  if (task.retryCount >= task.maxRetries) return { kind: 'give-up', reason: 'exhausted' };
  const full = Math.min(task.backoffMs * factor ** task.retryCount, maxMs);
  const jittered = Math.round(full * (1 - fraction(rng) / 2));
  const waitMs = Math.max(jittered, error.retryAfterMs ?? 0);
  return retryAfter({ ...task, retryCount: task.retryCount + 1 }, error, now, waitMs);
}

function retryAfter(task: Task, lastError: TaskError, now: number, waitMs: number): RetryDecision {
  const nextRetryAt = new Date(now + waitMs).toISOString() as Timestamp;
  return { kind: 'retry', waitMs, task: { ...released(task), status: 'pending', nextRetryAt, lastError } };
}

/** How much longer a task must wait; 0 if it may start. */
export function retryWaitMs(task: Task, now: number): number {
  const due = dueAt(task);
  return due === undefined ? 0 : Math.max(0, Date.parse(due) - now);
}

/** When a waiting task continues: at its next attempt, or when its timer fires. */
export function dueAt({ nextRetryAt, blockReason }: Task): Timestamp | undefined {
  return nextRetryAt ?? timerDue(blockReason);
}

/** From 0 up to, but not including, 1. */
export function fraction(rng: Rng): number {
  const bytes = Uint8Array.from(rng.bytes(4));
  return new DataView(bytes.buffer).getUint32(0) / 0x1_0000_0000;
}
