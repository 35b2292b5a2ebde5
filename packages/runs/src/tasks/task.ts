import { json, taskStatus, text, timestamp } from '@signalbox/model';
import * as z from 'zod';
import { nodeKey, ownerId, taskId } from '../ids.ts';
import { taskError } from './task-error.ts';

/**
 * Work started for a node. On SQLite `leaseOwner` alone says who owns it, for as long as that owner's lock is held; `leaseExpiresAt` and
 * `heartbeatAt` are for stores that several owners share.
 */
export const task = z.strictObject({
  id: taskId,
  node: nodeKey,
  iteration: z.int().nonnegative(),
  /** Digest of everything that defines the work; a different one is different work. */
  signature: text.min(1).max(128),
  status: taskStatus,
  /** The effect of running it twice: `none` may be repeated, `external` never blindly. */
  effects: z.enum(['none', 'undoable', 'external']),
  leaseOwner: ownerId.optional(),
  leaseExpiresAt: timestamp.optional(),
  heartbeatAt: timestamp.optional(),
  retryCount: z.int().nonnegative(),
  maxRetries: z.int().nonnegative(),
  backoffMs: z.int().nonnegative(),
  nextRetryAt: timestamp.optional(),
  lastError: taskError.optional(),
  /** Such as `rate_limit` or `approval_required:command_exec`. */
  blockReason: text.min(1).optional(),
  result: json.optional(),
  /** The frame in which its end was handled; a task that ended unhandled is handled after a restart. */
  handledFrame: z.int().nonnegative().optional(),
  createdAt: timestamp,
  startedAt: timestamp.optional(),
  endedAt: timestamp.optional(),
});
export type Task = z.infer<typeof task>;
