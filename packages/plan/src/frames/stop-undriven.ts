import { type EventId, type Json, type RunId, timestampOf } from '@signalbox/model';
import {
  cancelTask,
  type EventDraft,
  failTask,
  hasRunEnded,
  INTERNAL_EVENT_VERSION,
  type IntervalWrite,
  type NodeKey,
  type Task,
} from '@signalbox/runs';
import { type NodeRecord, nodeRecord } from '../structure/node-record.ts';
import type { PlanRunOptions } from './engine-options.ts';

/**
 * Stops a run that no engine drives, and the runs below it: its tasks and nodes are canceled. False where the run could
 * not be stopped because someone else moved it on at the same moment. `by` is the operator who asked, if one did.
 */
export async function stopUndriven(
  ports: Pick<PlanRunOptions, 'commit' | 'reader' | 'clock' | 'ids'>,
  run: RunId,
  reason: string,
  by?: string,
): Promise<boolean> {
  const { reader, clock, ids } = ports;
  const record = await reader.run(run);
  if (record === undefined || hasRunEnded(record.status)) return true;
  for (const child of await reader.children(run)) {
    if (child.origin?.kind === 'sub-plan') await stopUndriven(ports, child.id, reason);
  }
  const at = timestampOf(clock);
  const events: EventDraft[] = [];
  const tell = (type: string, fields: object) =>
    events.push({
      v: INTERNAL_EVENT_VERSION,
      id: ids.mint<EventId>(),
      ts: at,
      type,
      ...fields,
    } as unknown as EventDraft);

  const tasks = (await reader.tasks(run, { status: ['pending', 'running', 'canceling'] })).map(task => {
    const { id, node, iteration, retryCount } = task;
    tell('task.ended', { task: id, node, iteration, attempt: retryCount + 1, outcome: 'canceled', stale: false });
    return canceledAtOnce(task, at);
  });
  const intervals: IntervalWrite[] = [];
  for (const [node, value] of await reader.at(run, 'status', record.frames)) {
    const canceled = canceledRecord(nodeRecord.parse(value));
    if (canceled === undefined) continue;
    const { status: from } = nodeRecord.parse(value);
    intervals.push({
      space: 'status',
      key: node,
      fromFrame: record.frames,
      change: { kind: 'set', value: canceled as Json },
    });
    tell('node.status', { node: node as NodeKey, frame: record.frames, from, to: 'canceled' });
  }
  if (by !== undefined) tell('operator.acted', { action: 'stop', by });
  tell('run.status', { from: record.status, to: 'stopped', stopReason: reason });
  const committed = await ports.commit.commit(
    {
      at,
      run: { kind: 'change', change: { status: 'stopped', stopReason: reason } },
      ...(intervals.length === 0 ? {} : { intervals }),
      ...(tasks.length === 0 ? {} : { tasks }),
      events,
    },
    { run, epoch: record.epoch, version: record.version },
  );
  return committed.ok;
}

/** A task that ends now, whatever its work still does. */
export function canceledAtOnce(task: Task, at: Task['createdAt']): Task {
  const canceled = cancelTask(task, at);
  if (canceled.status !== 'canceling') return canceled;
  return failTask(
    canceled,
    { class: 'terminal', code: 'canceled', message: 'The run ended without waiting for it.' },
    at,
  );
}

function canceledRecord(record: NodeRecord): NodeRecord | undefined {
  const isLive = record.signature !== undefined && ['scheduled', 'running', 'blocked'].includes(record.status);
  if (!isLive || record.gone === true) return undefined;
  const { reason: _, told: __, ...rest } = record;
  return { ...rest, status: 'canceled' };
}
