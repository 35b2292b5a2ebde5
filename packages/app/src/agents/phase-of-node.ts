import type { RunId } from '@signalbox/model';
import type { NodeKey, RunReader } from '@signalbox/runs';
import * as z from 'zod';

/** What a node's row says of its place. */
const nodeRow = z.looseObject({
  kind: z.string(),
  parent: z.string().optional(),
  data: z.looseObject({ name: z.string().optional() }),
});

/** No plan is deeper. */
const DEEPEST = 256;

/** The name of the nearest `Phase` around a node; where there is none, the phase that its run is in. */
export async function phaseOfNode(
  reader: Pick<RunReader, 'run' | 'valueAt'>,
  run: RunId,
  node: NodeKey,
): Promise<string> {
  const record = await reader.run(run);
  if (record === undefined) return '';
  let key: string | undefined = node;
  for (let depth = 0; key !== undefined && depth < DEEPEST; depth += 1) {
    const row = nodeRow.safeParse(await reader.valueAt(run, 'node', key, record.frames));
    if (!row.success) break;
    const { kind, parent, data } = row.data;
    if (kind === 'phase') return data.name ?? key;
    key = parent;
  }
  return record.phase;
}
