import type { NodeId, RunId, SaidEvent } from '@signalbox/model';
import { contractNodeId, type RunReader, type TaskId, taskId } from '@signalbox/runs';
import { contractEventOfDelta } from '../contract-view/projections/contract-delta.ts';
import type { StreamParts } from './stream-buffer.ts';

/** Reports agent output as contract events. Each task is looked up once. */
export function saidEvents(
  reader: Pick<RunReader, 'task' | 'messageBefore'>,
  run: RunId,
): (parts: StreamParts) => Promise<readonly SaidEvent[]> {
  const tasks = new Map<TaskId, { readonly node: NodeId; readonly messageBefore: number | undefined }>();

  async function learn(task: TaskId, index: number) {
    const known = tasks.get(task);
    if (known !== undefined) return known;
    const found = await reader.task(run, task);
    if (found === undefined) return undefined;
    const messageBefore = await reader.messageBefore(run, task, index);
    const learned = { node: contractNodeId(run, found.node), messageBefore };
    tasks.set(task, learned);
    return learned;
  }

  return async ({ task: name, chunks: [first, ...rest] }) => {
    const task = taskId.parse(name);
    const known = first === undefined ? undefined : await learn(task, first.index);
    if (first === undefined || known === undefined) return [];
    return [first, ...rest].flatMap(chunk => {
      const messageBefore = chunk.messageBefore ?? known.messageBefore;
      return contractEventOfDelta(run, known.node, { ...chunk, task }, messageBefore) ?? [];
    });
  };
}
