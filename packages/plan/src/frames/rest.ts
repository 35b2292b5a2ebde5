import type { NodeStatus } from '@signalbox/model';
import type { OrphanAction } from '@signalbox/runs';
import { ROOT_ID } from '../nodes/node-id.ts';
import { isRecalled, type NodeRecord } from '../structure/node-record.ts';
import type { Structure } from '../structure/structure.ts';
import type { RunEnd } from './engine-options.ts';
import { putRecordRows, putStatus, putStatusRows } from './plan-view.ts';
import { lastFrame, type RunMemory } from './run-memory.ts';

/** The statuses of runs that nothing drives. */
export type RestStatus = Exclude<RunEnd['status'], 'lost'>;

/** The status of a started, unfinished node after its run came to rest: it must not show as running. */
const atRest: Record<RestStatus, NodeStatus> = {
  completed: 'succeeded',
  failed: 'failed',
  stopped: 'canceled',
  paused: 'idle',
  waiting: 'idle',
  stalled: 'idle',
};

/** The record of a running node after its run came to rest. */
export function restedRecord(record: NodeRecord, status: RestStatus): NodeRecord {
  return { ...record, status: atRest[status] };
}

/** The record of a node whose work was interrupted. */
export function leftRecord(record: NodeRecord, action: Exclude<OrphanAction['kind'], 'cancel'>): NodeRecord {
  const status = { retry: 'idle', abandon: 'abandoned', ask: 'blocked' } as const;
  const { reason: _, ...rest } = record;
  return { ...rest, status: status[action], ...(action === 'ask' ? { reason: 'outcome_unknown' } : {}) };
}

/** Puts the statuses of a run that comes to rest into the ledger, none of them as running. Its work was already released. */
export function putRestRows(memory: RunMemory, structure: Structure, status: RestStatus): void {
  const frame = lastFrame(memory);
  // A handler that was to be called again was not: its node keeps its state.
  for (const [id, record] of memory.records) {
    if (!isRecalled(record)) continue;
    memory.records.set(id, { ...record, status: 'failed' });
    structure.touch(id);
  }
  if (structure.hasTree) putStatusRows(memory, structure, frame);
  else putRecordRows(memory, frame);
  for (const id of [...memory.running]) {
    const row = memory.ledger.current('status', id) as NodeRecord | undefined;
    if (row !== undefined) putStatus(memory, id, restedRecord(row, status));
  }
  // All work may be done while the plan itself has failed or stalled.
  const root = memory.ledger.current('status', ROOT_ID) as NodeRecord | undefined;
  const isFailed = status === 'failed' || status === 'stalled';
  if (isFailed && root?.status !== 'failed' && (root !== undefined || structure.hasTree)) {
    putStatus(memory, ROOT_ID, { ...(root ?? { iteration: 0 }), status: 'failed' });
  }
}
