import type { RunId } from '@signalbox/model';
import type { RunReader } from '@signalbox/runs';

/** The nodes and tasks that an undriven run, or one below it, still shows as running. */
export async function stillRunning(reader: RunReader, run: RunId): Promise<readonly string[]> {
  const record = await reader.run(run);
  if (record === undefined) return [];
  const found: string[] = [];
  if (record.status !== 'running') {
    for (const [node, row] of await reader.at(run, 'status', record.frames)) {
      const { status } = row as { readonly status: string };
      if (status === 'running') found.push(`node ${node} of ${record.status} run ${record.name}`);
    }
    for (const { id, node, status } of await reader.tasks(run, { status: ['running', 'canceling'] })) {
      found.push(`task ${id} of node ${node} is ${status} in ${record.status} run ${record.name}`);
    }
  }
  for (const child of await reader.children(run)) found.push(...(await stillRunning(reader, child.id)));
  return found;
}
