import { contractEventsOfChunk, contractNodeId, type RunReader, type TaskId, taskId } from '@signalbox/app/runs';
import type { NodeId, RunId, SaidEvent } from '@signalbox/model';
import type { StreamParts } from '../live/stream-buffer.ts';

/** Tells what agents of a run say as the contract has it. Which node a task is of is looked up once. */
export function saidEvents(
  reader: Pick<RunReader, 'task'>,
  run: RunId,
): (parts: StreamParts) => Promise<readonly SaidEvent[]> {
  const nodes = new Map<string, NodeId>();

  async function nodeOf(task: TaskId): Promise<NodeId | undefined> {
    const known = nodes.get(task);
    if (known !== undefined) return known;
    const found = await reader.task(run, task);
    if (found === undefined) return undefined;
    const node = contractNodeId(run, found.node);
    nodes.set(task, node);
    return node;
  }

  return async parts => {
    const task = taskId.parse(parts.task);
    const node = await nodeOf(task);
    return node === undefined
      ? []
      : parts.chunks.flatMap(chunk => contractEventsOfChunk(run, node, { ...chunk, task }));
  };
}
