import type { Task } from '@signalbox/runs';
import type { NodeRecord } from '../structure/node-record.ts';

/**
 * Work that was running in the parent's frame is not running in the fork: it starts over, from the task that the fork was given for it or
 * from a new one. Questions are asked again, and sub-plans get new children.
 */
export function beginAnew(records: Map<string, NodeRecord>, tasks: readonly Task[]): void {
  const byNode = new Map<string, Task>(tasks.map(task => [task.node, task]));
  for (const [node, record] of records) {
    if (record.gone === true || record.signature === undefined) continue;
    if (record.status !== 'scheduled' && record.status !== 'running' && record.status !== 'blocked') continue;
    const task = byNode.get(node);
    if (task !== undefined && (task.status !== 'pending' || record.status !== 'running')) continue;
    records.set(node, begunAnew(record));
  }
}

/** The record of a node whose work starts over. */
export function begunAnew(record: NodeRecord): NodeRecord {
  const { reason: _, told: __, child: ___, ...rest } = record;
  return { ...rest, status: 'idle' };
}
