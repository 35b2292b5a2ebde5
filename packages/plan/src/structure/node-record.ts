import { type Json, type NodeStatus, nodeStatus } from '@signalbox/model';
import { retryPolicy } from '@signalbox/runs';
import * as z from 'zod';
import { type NodeEdit, nodeEdit } from '../nodes/node-edit.ts';

/** The state of a node, apart from its content: its status row. */
export const nodeRecord = z.strictObject({
  status: nodeStatus,
  /** The iteration of the innermost loop around it, over the whole run; 0 outside loops. */
  iteration: z.int().nonnegative(),
  /** Of the started work. */
  signature: z.string().optional(),
  /** How often an operator restarted it. */
  restart: z.int().positive().optional(),
  /** Why it is blocked. */
  reason: z.string().optional(),
  /** The last reason passed to `onBlocked`, while the node waits for the same answer. */
  told: z.string().optional(),
  /** The restart whose child run a sub-plan continues with, if not its own. */
  child: z.int().nonnegative().optional(),
  /**
   * How many bodies the loop started over the whole run, how many of them before its current entry, and whether it was left. `since` is
   * where an operator restarted the count of its maximum.
   */
  loop: z
    .strictObject({
      total: z.int().nonnegative(),
      base: z.int().nonnegative(),
      since: z.int().nonnegative().optional(),
      left: z.boolean(),
    })
    .optional(),
  /** Canonical text of an effect's last dependencies, and whether it holds a resource of its process. */
  effect: z.strictObject({ deps: z.string(), held: z.boolean() }).optional(),
  /** Its work ended, but the handler of that end failed: it is called again when the run is resumed. */
  unhandled: z.literal(true).optional(),
  /** A retry policy that replaces its author's. */
  policy: retryPolicy.optional(),
  /** A person's change of its input. */
  edited: nodeEdit.optional(),
  /** The node left the plan. The record says how often it ran. */
  gone: z.literal(true).optional(),
});
export type NodeRecord = z.infer<typeof nodeRecord>;

const STATUSES: ReadonlySet<unknown> = new Set(nodeStatus.options);

/** The record in a status row. The schema reads only unusual ones: a run that is resumed has one for each of its nodes. */
export function nodeRecordOf(row: Json): NodeRecord {
  const { status, iteration, signature = '', ...rest } = (row ?? {}) as Partial<NodeRecord>;
  const isUsual =
    STATUSES.has(status) &&
    Number.isSafeInteger(iteration) &&
    (iteration as number) >= 0 &&
    typeof signature === 'string' &&
    Object.keys(rest).length === 0;
  return isUsual ? { ...(row as unknown as NodeRecord) } : nodeRecord.parse(row);
}

/** The record of a node whose input a person changed. */
export function editedRecord(record: NodeRecord, edit: NodeEdit | undefined): NodeRecord {
  return edit === undefined ? record : { ...record, edited: edit };
}

/** Whether a handler failed at the end of the node's work, and is not yet called again. */
export function isUnhandled({ unhandled, gone }: NodeRecord): boolean {
  return unhandled === true && gone !== true;
}

/** Whether a failed handler is about to be called again. */
export function isRecalled(record: NodeRecord | undefined): boolean {
  return record?.status === 'scheduled' && isUnhandled(record);
}

/** The restart that names the child run of a sub-plan. */
export function childOf(record: NodeRecord | undefined): number {
  return record?.child ?? record?.restart ?? 0;
}

/** The child runs of a retried sub-plan are numbered from its restart on. */
export const CHILDREN_PER_RESTART = 1_000_000;

/** The iteration shown to people: counted from 0 each time the loop is reached. */
export function iterationOf(record: NodeRecord | undefined): number {
  return record?.loop === undefined ? 0 : record.loop.total - record.loop.base;
}

/** Bodies that count for the loop's maximum, including the current one. */
export function countOf({ loop }: NodeRecord): number {
  return loop === undefined ? 0 : loop.total - (loop.since ?? loop.base) + 1;
}

/** The record of a loop whose maximum counts from the current body; undefined if it already does, or the loop was left. */
export function loopReset(record: NodeRecord): NodeRecord | undefined {
  const { loop, gone } = record;
  if (loop === undefined || loop.left || gone === true || countOf(record) === 1) return undefined;
  return { ...record, loop: { ...loop, since: loop.total } };
}

export type Standing = 'idle' | 'live' | 'blocked' | 'done' | 'failed';

const standings: Record<NodeStatus, Standing> = {
  idle: 'idle',
  scheduled: 'live',
  running: 'live',
  blocked: 'blocked',
  succeeded: 'done',
  skipped: 'done',
  failed: 'failed',
  canceled: 'failed',
  abandoned: 'failed',
};

export function standingOf(status: NodeStatus): Standing {
  return standings[status];
}
