import type { Timestamp } from '@signalbox/model';
import type { Task } from './task.ts';
import { released } from './task-lifecycle.ts';

/** What a node wants when its work was cut off: go on or begin again, give up, or ask a person first. */
export type OrphanPolicy = 'retry' | 'fail' | 'ask';

export type OrphanAction =
  | { readonly kind: 'retry'; readonly task: Task }
  /** It was being canceled: now it is. */
  | { readonly kind: 'cancel'; readonly task: Task }
  | { readonly kind: 'abandon'; readonly task: Task; readonly reason: 'policy' | 'exhausted' }
  /** It may or may not have happened and cannot be undone: a person decides. */
  | { readonly kind: 'ask'; readonly task: Task };

/**
 * What becomes of a task whose owner is gone (§7.3.3). It starts again without any wait: its owner's death says nothing
 * against the work. Each new start counts as a retry, so work that kills its owner does not do so for ever.
 */
export function recoverOrphan(task: Task, policy: OrphanPolicy, at: Timestamp): OrphanAction {
  const lastError = {
    class: task.effects === 'external' ? 'unknown' : 'retryable',
    code: 'owner-gone',
    message: `The process that worked on task ${task.id} ended before the task did.`,
  } as const;
  const left: Task = { ...released(task), lastError };
  if (task.status === 'canceling') return { kind: 'cancel', task: { ...left, status: 'canceled', endedAt: at } };
  const orphaned: Task = { ...left, status: 'orphaned', endedAt: at };
  if (policy === 'fail') return { kind: 'abandon', task: orphaned, reason: 'policy' };
  if (policy === 'ask' || task.effects === 'external') return { kind: 'ask', task: orphaned };
  if (task.retryCount >= task.maxRetries) return { kind: 'abandon', task: orphaned, reason: 'exhausted' };
  return { kind: 'retry', task: { ...left, status: 'pending', retryCount: task.retryCount + 1 } };
}
