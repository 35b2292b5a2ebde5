import type { Timestamp } from '@signalbox/model';
import type { OwnerId } from '../ids.ts';
import type { Task } from './task.ts';
import type { OwnerDeath } from './task-error.ts';
import { released } from './task-lifecycle.ts';

/** What a node wants when its work was cut off: go on or begin again, give up, or ask a person first. */
export type OrphanPolicy = 'retry' | 'fail' | 'ask';

export type OrphanAction =
  | { readonly kind: 'retry'; readonly task: Task }
  /** It was being canceled: now it is. */
  | { readonly kind: 'cancel'; readonly task: Task }
  | { readonly kind: 'abandon'; readonly task: Task }
  /** It may or may not have happened and cannot be undone: a person decides. */
  | { readonly kind: 'ask'; readonly task: Task };

/** Who recovers a task, and what is known of the owner before. */
export interface Recovery {
  readonly at: Timestamp;
  readonly owner: OwnerId;
  readonly former?: FormerOwner | undefined;
}

/** The owner before this one, and its last sign of life. */
export interface FormerOwner {
  readonly id: OwnerId;
  readonly seenAt: Timestamp;
}

/** The code of work that ended because its owner did. */
const OWNER_GONE = 'owner-gone';

/** A task that was running at so many owner deaths in a row may be what kills them: a person decides whether it starts again. */
export const MAX_OWNER_DEATHS = 4;

/** More of them tell no more. */
const KEPT_DEATHS = 10;

/**
 * What becomes of a task whose owner is gone (§7.3.3). It starts again without any wait and without using up a retry: its
 * owner's death says nothing against the work. The death is kept with the task; whoever starts it looks at `ownerDeathsOf`
 * first. A task of the same owner only lost its thread, and no owner died.
 */
export function recoverOrphan(task: Task, policy: OrphanPolicy, recovery: Recovery): OrphanAction {
  const { at, owner } = recovery;
  const isOwnerGone = task.leaseOwner !== owner;
  const lastError = {
    class: task.effects === 'external' ? 'unknown' : 'retryable',
    code: OWNER_GONE,
    message: `The ${isOwnerGone ? 'process' : 'thread'} that worked on task ${task.id} ended before the task did.`,
    deaths: [...ownerDeathsOf(task), ...(isOwnerGone ? deathOf(task, recovery) : [])].slice(-KEPT_DEATHS),
  } as const;
  const left: Task = { ...released(task), lastError };
  if (task.status === 'canceling') return { kind: 'cancel', task: { ...left, status: 'canceled', endedAt: at } };
  const orphaned: Task = { ...left, status: 'orphaned', endedAt: at };
  if (policy === 'fail') return { kind: 'abandon', task: orphaned };
  if (policy === 'ask' || task.effects === 'external') return { kind: 'ask', task: orphaned };
  return { kind: 'retry', task: { ...left, status: 'pending' } };
}

/** The owner deaths in a row at which the task was running, oldest first. An attempt that ends in any other way ends the row. */
export function ownerDeathsOf({ lastError }: Task): readonly OwnerDeath[] {
  return lastError?.deaths ?? [];
}

/** The task without the deaths of its owners: an attempt of it came to an end of its own. */
export function forgetDeaths(task: Task): Task {
  if (task.lastError?.code !== OWNER_GONE) return task;
  const { lastError: _, ...rest } = task;
  return rest;
}

function deathOf({ leaseOwner, startedAt }: Task, { at, former }: Recovery): readonly OwnerDeath[] {
  if (leaseOwner === undefined || startedAt === undefined) return [];
  const seen = former?.id === leaseOwner ? { seenAt: former.seenAt } : {};
  return [{ owner: leaseOwner, startedAt, ...seen, foundAt: at }];
}
