import type { RunId } from '@signalbox/model';
import type { RunReader, StreamChunk, TaskId } from '@signalbox/runs';

const PAGE = 500;

/** What an agent kept of its work, in order: everything it goes on from. */
export async function keptMessages(reader: RunReader, run: RunId, task: TaskId): Promise<readonly StreamChunk[]> {
  const found: StreamChunk[] = [];
  for (let from = 0; ; ) {
    const page = await reader.stream(run, task, from, PAGE);
    found.push(...page.filter(({ kind }) => kind === 'message'));
    if (page.length < PAGE) return found;
    from = (page.at(-1)?.index ?? from) + 1;
  }
}
