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
 * Stops a run that no engine drives, and the runs below it: its tasks and nodes are canceled, its open questions
 * withdrawn. Where someone else moves it on at the same moment, nothing is changed.
 */
export async function stopUndriven(
  ports: Pick<PlanRunOptions, 'commit' | 'reader' | 'clock' | 'ids'>,
  run: RunId,
  reason: string,
): Promise<void> {
  const { reader, clock, ids } = ports;
  const record = await reader.run(run);
  if (record === undefined || hasRunEnded(record.status)) return;
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
  const open = await reader.decisions({ run, status: ['open'] });
  for (const { decision } of open) tell('decision.withdrawn', { decision: decision.id });
  tell('run.status', { from: record.status, to: 'stopped', stopReason: reason });
  await ports.commit.commit(
    {
      at,
      run: { kind: 'change', change: { status: 'stopped', stopReason: reason } },
      ...(intervals.length === 0 ? {} : { intervals }),
      ...(tasks.length === 0 ? {} : { tasks }),
      ...(open.length === 0
        ? {}
        : { decisions: open.map(({ decision }) => ({ kind: 'withdraw' as const, id: decision.id, at })) }),
      events,
    },
    { run, epoch: record.epoch, version: record.version },
  );
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
