import { text } from '@signalbox/model';
import * as z from 'zod';

/** What an error means for the next attempt. `unknown` is work that may or may not have happened. */
export const errorClass = z.enum(['retryable', 'terminal', 'unknown']);
export type ErrorClass = z.infer<typeof errorClass>;

/** Why an attempt failed, as it is kept. */
export const taskError = z.strictObject({
  class: errorClass,
  code: text.min(1),
  message: text,
  /** What a provider asked us to wait before the next call. */
  retryAfterMs: z.int().nonnegative().optional(),
});
export type TaskError = z.infer<typeof taskError>;
