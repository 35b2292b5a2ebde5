import type { Timestamp } from '@signalbox/model';
import type { OrphanAction } from './orphan-policy.ts';
import type { Task } from './task.ts';
import { released } from './task-lifecycle.ts';

/**
 * Releases a task whose run ends, or pauses, before its work does. It starts again when the run is resumed, which does not count as a
 * retry: the work did not fail. A person decides about work that may have had outside effects (R17).
 */
export function releaseTask(task: Task, at: Timestamp): Exclude<OrphanAction, { readonly kind: 'abandon' }> {
  const left = released(task);
  if (task.status === 'canceling') return { kind: 'cancel', task: { ...left, status: 'canceled', endedAt: at } };
  if (task.effects !== 'external') return { kind: 'retry', task: { ...left, status: 'pending' } };
  const lastError = {
    class: 'unknown',
    code: 'run-ended',
    message: `The run ended before task ${task.id} did.`,
  } as const;
  return { kind: 'ask', task: { ...left, status: 'orphaned', lastError, endedAt: at } };
}
