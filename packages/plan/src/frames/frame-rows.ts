import { asJson, type Json, type NodeStatus } from '@signalbox/model';
import type { NodeKey } from '@signalbox/runs';
import { isLoopKind, isRunnableKind, type NodeKind } from '../nodes/node-kind.ts';
import type { Reconciled } from '../render/reconcile.ts';
import type { NodeRecord } from '../structure/node-record.ts';
import type { Structure } from '../structure/structure.ts';
import { digested, type RunMemory } from './run-memory.ts';

/** Puts the rows of added, changed and removed nodes into the ledger. */
export function putNodeRows(memory: RunMemory, rows: Reconciled['rows'], left: readonly string[]): void {
  const { ledger, digest, records } = memory;
  for (const id of left) {
    ledger.put('node', id, undefined);
    digest.set('node', id, undefined);
    const record = records.get(id);
    const status = record === undefined ? undefined : goneRecord(record);
    if (status !== undefined) records.set(id, status);
    putStatus(memory, id, status);
  }
  for (const [id, row] of rows) {
    ledger.put('node', id, asJson(row));
    digest.set('node', id, digested('node', asJson(row)));
  }
}

/** The record of a removed node: enough to tell new work from old when it returns. */
function goneRecord(record: NodeRecord): NodeRecord | undefined {
  if (record.signature === undefined && record.loop === undefined) return undefined;
  const isLive = record.status === 'running' || record.status === 'scheduled' || record.status === 'blocked';
  const { effect: _, reason: __, unhandled: ___, ...rest } = record;
  return { ...rest, status: isLive ? 'canceled' : record.status, gone: true };
}

/**
 * Puts the rows of statuses that may have changed into the ledger, and reports those of nodes that do work. A node whose branch is no
 * longer taken is passed to `onSkipped`, and forgets its work.
 */
export function putStatusRows(
  memory: RunMemory,
  structure: Structure,
  frame: number,
  onSkipped: (node: string) => void = () => {},
): void {
  const { ledger, records } = memory;
  for (const id of structure.takeTouched()) {
    const node = structure.nodeOf(id);
    if (node === undefined) continue;
    const status = structure.statusOf(id);
    if (status === 'skipped') skip(memory, id, onSkipped);
    const record = records.get(id);
    const before = ledger.committed('status', id) as { readonly status?: NodeStatus; readonly gone?: true } | undefined;
    const keepsRecord = isRunnableKind(node.kind) || isLoopKind(node.kind) || node.kind === 'effect';
    const iteration = structure.scopeOf(id);
    const row = keepsRecord && record !== undefined ? { ...record, status } : { status, iteration };
    if ((row.status !== 'idle' || before !== undefined || keepsRecord) && !isSame(ledger.current('status', id), row))
      putStatus(memory, id, row);
    const from = before === undefined || before.gone === true ? 'idle' : (before.status ?? 'idle');
    if (!isRunnableKind(node.kind) || from === status) continue;
    const reason = status === 'blocked' && record?.reason !== undefined ? { blockReason: record.reason } : {};
    ledger.event('node.status', { node: id as NodeKey, frame, from, to: status, ...reason });
  }
}

/** Unchanged rows consist of the same parts. */
function isSame(shown: Json | undefined, row: NodeRecord): boolean {
  if (shown === undefined) return false;
  const a = shown as Readonly<Record<string, unknown>>;
  const b = row as Readonly<Record<string, unknown>>;
  for (const key in b) if (!Object.is(a[key], b[key])) return false;
  for (const key in a) if (!(key in b)) return false;
  return true;
}

/** As if it had left the plan: when its branch is taken again, it starts over. */
function skip({ records }: RunMemory, id: string, onSkipped: (node: string) => void): void {
  const record = records.get(id);
  if (record === undefined || record.gone === true || record.status === 'skipped') return;
  onSkipped(id);
  const gone = goneRecord(record);
  if (gone === undefined) records.delete(id);
  else records.set(id, { ...gone, status: 'skipped' });
}

/** Puts changed records into the ledger when there is no tree, because the first render of a process threw. */
export function putRecordRows(memory: RunMemory, frame: number): void {
  const { ledger, records, formerNodes } = memory;
  for (const [id, record] of records) {
    const kind = formerNodes.get(id);
    if (kind === undefined || !isRunnableKind(kind as NodeKind) || record.gone === true) continue;
    const before = ledger.current('status', id) as { readonly status?: NodeStatus } | undefined;
    if (isSame(before as Json | undefined, record)) continue;
    putStatus(memory, id, record);
    const from = before?.status ?? 'idle';
    if (from === record.status) continue;
    const reason = record.status === 'blocked' && record.reason !== undefined ? { blockReason: record.reason } : {};
    ledger.event('node.status', { node: id as NodeKey, frame, from, to: record.status, ...reason });
  }
}

export function putStatus(memory: RunMemory, id: string, given: NodeRecord | undefined): void {
  const record = memory.clean(given);
  if (record?.status === 'running') memory.running.add(id);
  else memory.running.delete(id);
  memory.ledger.put('status', id, record as Json | undefined);
  memory.digest.set('status', id, record === undefined ? undefined : digested('status', record as Json));
}
