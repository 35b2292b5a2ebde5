import { json, timestamp } from '@signalbox/model';
import * as z from 'zod';
import { taskId } from '../ids.ts';

/**
 * A part of what an agent said while it worked, as it came (§7.7). Kept apart from events: it is no fact of the run, and
 * is not in its chain. Whoever writes it puts many tokens into one chunk. Chunks of kind `message`, taken together, are
 * the transcript: what an agent goes on from after a crash.
 */
export const streamChunk = z.strictObject({
  task: taskId,
  /** Its place in the stream of its task; one that is there already is not kept again. */
  index: z.int().nonnegative(),
  kind: z.enum(['token', 'thinking', 'tool_start', 'tool_end', 'message']),
  payload: json,
  at: timestamp,
});
export type StreamChunk = z.infer<typeof streamChunk>;
