import type { Client } from '@signalbox/client';
import type { RunId, WireChunk } from '@signalbox/model';

const PAGE = 1000;

/** The complete output and transcript of a task, after the part that is known. Throws a refusal, for queries to catch. */
export async function readStream(
  client: Client,
  run: RunId,
  task: string,
  known: readonly WireChunk[] = [],
): Promise<readonly WireChunk[]> {
  const chunks = [...known];
  for (let from = (known.at(-1)?.index ?? -1) + 1; ; ) {
    const read = await client.stream(run, task, { from, limit: PAGE });
    if (!read.ok) throw read.error;
    chunks.push(...read.value.chunks);
    if (read.value.chunks.length < PAGE) return chunks;
    from = read.value.next;
  }
}
