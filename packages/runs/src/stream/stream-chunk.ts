import { json, timestamp } from '@signalbox/model';
import * as z from 'zod';
import { taskId } from '../ids.ts';

/**
 * A part of an agent's output, as it came (§7.7). Stored apart from events: it is not a fact of the run, and not in its chain. Writers put
 * many tokens into one chunk. The chunks of kind `message` are the transcript, from which an agent continues after a crash.
 */
export const streamChunk = z.strictObject({
  task: taskId,
  /** Its index in the stream of its task; an existing one is not written again. */
  index: z.int().nonnegative(),
  kind: z.enum(['token', 'thinking', 'tool_start', 'tool_end', 'message']),
  payload: json,
  at: timestamp,
});
export type StreamChunk = z.infer<typeof streamChunk>;
