import { type ErrorEnvelope, err, type Json, ok, type Result, type RunId, timestampOf } from '@signalbox/model';
import {
  cancelTask,
  type EventDraft,
  eventDraftOf,
  failTask,
  hasRunEnded,
  type IntervalWrite,
  type NodeKey,
  type RunRecord,
  releaseTask,
  type Task,
  type TaskError,
} from '@signalbox/runs';
import { type NodeRecord, nodeRecord } from '../structure/node-record.ts';
import type { PlanRunOptions } from './engine-options.ts';
import { leftRecord, restedRecord } from './rest.ts';

type Ports = Pick<PlanRunOptions, 'commit' | 'reader' | 'clock'>;

/** How to end, or rest, a run that no engine drives. */
export type UndrivenEnd =
  | { readonly status: 'stopped'; readonly reason: string }
  | { readonly status: 'failed'; readonly error: TaskError }
  | { readonly status: 'paused' };

/** Who asked for it, and for what. */
export interface UndrivenDeed {
  readonly action: 'pause' | 'stop' | 'terminate';
  readonly by: string;
}

/**
 * Stops a run that no engine drives, and its children: its tasks and nodes are canceled. Returns false if another writer changed the run at
 * the same moment. `by` is the operator who asked, if any.
 */
export async function stopUndriven(ports: Ports, run: RunId, reason: string, by?: string): Promise<boolean> {
  const record = await ports.reader.run(run);
  if (record === undefined || hasRunEnded(record.status)) return true;
  const deed = by === undefined ? undefined : ({ action: 'stop', by } as const);
  return (await endUndriven(ports, record, { status: 'stopped', reason }, deed)).ok;
}

/**
 * Ends or rests a run that no engine drives, unless it changed since it was read, so that nothing in it shows as running. A stopped run
 * cancels its work and stops its children; otherwise interrupted work starts again when the run is resumed, and the children rest.
 */
export async function endUndriven(
  ports: Ports,
  record: RunRecord,
  end: UndrivenEnd,
  deed?: UndrivenDeed,
): Promise<Result<void, ErrorEnvelope>> {
  const { reader, clock } = ports;
  const { id: run } = record;
  for (const child of await reader.children(run)) {
    if (child.origin?.kind !== 'sub-plan') continue;
    if (end.status === 'stopped') await stopUndriven(ports, child.id, end.reason);
    else if (child.status === 'running') await endUndriven(ports, child, { status: 'paused' });
  }
  const at = timestampOf(clock);
  const events: EventDraft[] = [];
  const tell = <Type extends EventDraft['type']>(...draft: Parameters<typeof eventDraftOf<Type>>) =>
    events.push(eventDraftOf(...draft));

  const why = {
    ...(end.status === 'stopped' && { stopReason: end.reason }),
    ...(end.status === 'failed' && { error: end.error }),
  };
  const tellEnd = () => {
    if (deed !== undefined) tell('operator.acted', { ...deed });
    tell('run.status', { from: record.status, to: end.status, ...why });
  };
  // Events after a run's status were not made by its driver; a stop is recorded through what it canceled.
  if (end.status !== 'stopped') tellEnd();
  const tasks: Task[] = [];
  const left = new Map<string, (before: NodeRecord) => NodeRecord>();
  for (const task of await reader.tasks(run, { status: ['pending', 'running', 'canceling'] })) {
    const { id, node, iteration, retryCount } = task;
    const fields = { task: id, node, iteration, attempt: retryCount + 1 };
    if (end.status === 'stopped') {
      tell('task.ended', { ...fields, outcome: 'canceled', stale: false });
      tasks.push(canceledAtOnce(task, at));
    } else if (task.status !== 'pending') {
      const action = releaseTask(task, at);
      tasks.push(action.task);
      if (action.kind === 'cancel') tell('task.ended', { ...fields, outcome: 'canceled', stale: true });
      else tell('task.orphaned', { ...fields, action: action.kind });
      left.set(node, before =>
        action.kind === 'cancel' ? { ...before, status: 'canceled' } : leftRecord(before, action.kind),
      );
    }
  }
  const intervals: IntervalWrite[] = [];
  for (const [node, value] of await reader.at(run, 'status', record.frames)) {
    const before = nodeRecord.parse(value);
    const after = recordAfter(before, end.status, left.get(node));
    if (after === undefined) continue;
    intervals.push({
      space: 'status',
      key: node,
      fromFrame: record.frames,
      change: { kind: 'set', value: after as Json },
    });
    if (before.signature === undefined || before.status === after.status) continue;
    const reason = after.status === 'blocked' && after.reason !== undefined ? { blockReason: after.reason } : {};
    tell('node.status', {
      node: node as NodeKey,
      frame: record.frames,
      from: before.status,
      to: after.status,
      ...reason,
    });
  }
  if (end.status === 'stopped') tellEnd();
  const committed = await ports.commit.commit(
    {
      at,
      run: { kind: 'change', change: { status: end.status, ...why } },
      ...(intervals.length === 0 ? {} : { intervals }),
      ...(tasks.length === 0 ? {} : { tasks }),
      events,
    },
    { run, epoch: record.epoch, version: record.version },
  );
  return committed.ok ? ok(undefined) : err(committed.error);
}

/** Undefined if nothing changes. */
function recordAfter(
  record: NodeRecord,
  status: UndrivenEnd['status'],
  left: ((before: NodeRecord) => NodeRecord) | undefined,
): NodeRecord | undefined {
  if (record.gone === true) return undefined;
  const after = status === 'stopped' ? canceledRecord(record) : left?.(record);
  if (after !== undefined) return after;
  return record.status === 'running' ? restedRecord(record, status) : undefined;
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
  if (!isLive) return undefined;
  const { reason: _, told: __, ...rest } = record;
  return { ...rest, status: 'canceled' };
}
