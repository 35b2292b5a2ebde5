import type { Task } from '@signalbox/runs';
import type { NodeRecord } from '../structure/node-record.ts';

/**
 * What was under way in the parent's frame is not under way in the fork: its work begins anew, from the task that the fork
 * was given for it or from a new one. Questions are asked again, and children of sub-plans are others.
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

/** The record of a node whose work begins from nothing. */
export function begunAnew(record: NodeRecord): NodeRecord {
  const { reason: _, told: __, child: ___, ...rest } = record;
  return { ...rest, status: 'idle' };
}
