import type { RunId } from '@signalbox/model';
import { chunksOf, type RunReader, type StreamChunk, type TaskId } from '@signalbox/runs';

/** An agent's transcript of its work, in order: everything it resumes from. */
export async function keptMessages(reader: RunReader, run: RunId, task: TaskId): Promise<readonly StreamChunk[]> {
  const found: StreamChunk[] = [];
  for await (const chunk of chunksOf(reader, run, task)) if (chunk.kind === 'message') found.push(chunk);
  return found;
}
