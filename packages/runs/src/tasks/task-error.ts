import { text, thrownPlace, timestamp } from '@signalbox/model';
import * as z from 'zod';
import { ownerId } from '../ids.ts';

/** What an error means for the next attempt. `unknown`: the work may or may not have happened. */
const errorClass = z.enum(['retryable', 'terminal', 'unknown']);
export type ErrorClass = z.infer<typeof errorClass>;

/** An owner that died while working on a task. */
const ownerDeath = z.strictObject({
  owner: ownerId,
  /** When the work started. */
  startedAt: timestamp,
  /** The owner's last sign of life, if known: it died soon after. */
  seenAt: timestamp.optional(),
  /** When the next owner found the task. */
  foundAt: timestamp,
});
export type OwnerDeath = z.infer<typeof ownerDeath>;

/** Why an attempt failed, as stored. */
export const taskError = z.strictObject({
  class: errorClass,
  code: text.min(1),
  message: text,
  /** Its author threw `Terminal`: no attempt of a sub-plan around it would do better either. */
  final: z.literal(true).optional(),
  /** How long the provider asked to wait before the next call. */
  retryAfterMs: z.int().nonnegative().optional(),
  /** Of `owner-gone`: the deaths in a row at which the task was running, oldest first. */
  deaths: z.array(ownerDeath).readonly().optional(),
  /** Where the author's code threw; absent for other failures, and in logs from before this field existed. */
  thrown: thrownPlace.optional(),
});
export type TaskError = z.infer<typeof taskError>;
