import type { Lineage } from '@signalbox/model';
import type { RunReader, RunRecord } from '@signalbox/runs';

/** The parent of a run, and its forks. */
export async function lineageOf(reader: RunReader, { id, origin }: RunRecord): Promise<Lineage> {
  const children = await reader.children(id);
  return {
    ...(origin?.kind === 'fork' && { parent: { run: origin.run, frame: origin.frame, head: origin.head } }),
    forks: children.flatMap(({ id: run, name, status, createdAt, origin: from }) =>
      from?.kind === 'fork' ? [{ run, frame: from.frame, name, status, createdAt }] : [],
    ),
  };
}
