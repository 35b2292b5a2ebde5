import type { Timestamp } from '@signalbox/model';
import type { OwnerId } from '../ids.ts';
import type { Task } from './task.ts';
import type { OwnerDeath } from './task-error.ts';
import { released } from './task-lifecycle.ts';

/** A node's policy for interrupted work: continue or restart, fail, or ask a person first. */
export type OrphanPolicy = 'retry' | 'fail' | 'ask';

export type OrphanAction =
  | { readonly kind: 'retry'; readonly task: Task }
  /** It was being canceled, and now is. */
  | { readonly kind: 'cancel'; readonly task: Task }
  | { readonly kind: 'abandon'; readonly task: Task }
  /** It may or may not have happened and cannot be undone: a person decides. */
  | { readonly kind: 'ask'; readonly task: Task };

/** Who recovers a task, and the previous owner. */
export interface Recovery {
  readonly at: Timestamp;
  readonly owner: OwnerId;
  readonly former?: FormerOwner | undefined;
}

/** The previous owner, and its last sign of life. */
export interface FormerOwner {
  readonly id: OwnerId;
  readonly seenAt: Timestamp;
}

/** The error code of work that ended with its owner. */
const OWNER_GONE = 'owner-gone';

/** A task that was running at this many owner deaths in a row may be their cause: a person decides whether it starts again. */
export const MAX_OWNER_DEATHS = 4;

/** Further deaths add no information. */
const KEPT_DEATHS = 10;

/**
 * Recovers a task whose owner is gone (§7.3.3). It restarts without a wait and without using a retry: its owner's death says nothing
 * against the work. The death is recorded with the task; check `ownerDeathsOf` before starting it. A task of the same owner only lost its
 * thread; no owner died.
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

/** The owner deaths in a row at which the task was running, oldest first. An attempt that ends in any other way resets them. */
export function ownerDeathsOf({ lastError }: Task): readonly OwnerDeath[] {
  return lastError?.deaths ?? [];
}

/** Clears the owner deaths: an attempt of the task ended on its own. */
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
