import { type NodeStatus, nodeStatus } from '@signalbox/model';
import { retryPolicy } from '@signalbox/runs';
import * as z from 'zod';

/** What is remembered of a node, apart from how it looks: its status row. */
export const nodeRecord = z.strictObject({
  status: nodeStatus,
  /** Which body of the innermost loop around it this is about, over the whole run; 0 outside loops. */
  iteration: z.int().nonnegative(),
  /** Of the work that was started. */
  signature: z.string().optional(),
  /** How often an operator had it run anew. */
  restart: z.int().positive().optional(),
  /** Why it is blocked. */
  reason: z.string().optional(),
  /** What `onBlocked` was told last, while the node waits for the same answer. */
  told: z.string().optional(),
  /** The restart whose child run a sub-plan goes on with, where that is not its own. */
  child: z.int().nonnegative().optional(),
  /**
   * Bodies that the loop began over the whole run, how many of them before its present time round, and whether it was left.
   * `since` is where an operator had its maximum count anew.
   */
  loop: z
    .strictObject({
      total: z.int().nonnegative(),
      base: z.int().nonnegative(),
      since: z.int().nonnegative().optional(),
      left: z.boolean(),
    })
    .optional(),
  /** Canonical text of the dependencies that an effect ran with, and whether it holds something of its process. */
  effect: z.strictObject({ deps: z.string(), held: z.boolean() }).optional(),
  /** Its work ended, but the handler of that end failed: it is called again when the run is taken up. */
  unhandled: z.literal(true).optional(),
  /** Other rules for its retries than its author wrote. */
  policy: retryPolicy.optional(),
  /** The node left the plan. What is kept says how often it ran. */
  gone: z.literal(true).optional(),
});
export type NodeRecord = z.infer<typeof nodeRecord>;

/** Whether a handler of the node failed at the end of its work, and is not yet called again. */
export function isUnhandled({ unhandled, gone }: NodeRecord): boolean {
  return unhandled === true && gone !== true;
}

/** Whether such a handler is about to be called again. */
export function isRecalled(record: NodeRecord | undefined): boolean {
  return record?.status === 'scheduled' && isUnhandled(record);
}

/** The restart that names the child run of a sub-plan. */
export function childOf(record: NodeRecord | undefined): number {
  return record?.child ?? record?.restart ?? 0;
}

/** The iteration that people see: counted from 0 each time the loop is reached. */
export function iterationOf(record: NodeRecord | undefined): number {
  return record?.loop === undefined ? 0 : record.loop.total - record.loop.base;
}

/** Bodies that count for the loop's maximum, the present one included. */
export function countOf({ loop }: NodeRecord): number {
  return loop === undefined ? 0 : loop.total - (loop.since ?? loop.base) + 1;
}

/** The record of a loop whose maximum counts from the body that goes on; undefined where it counts so already, or is left. */
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
