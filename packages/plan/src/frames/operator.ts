import type { QueryTable } from '../context.ts';
import type { Structure } from '../structure/structure.ts';
import { DEFAULT_STOP_GRACE_MS, type PlanRunOptions } from './engine-options.ts';
import type { RunMemory } from './run-memory.ts';
import type { TaskDesk } from './task-desk.ts';

/** What a run is told from outside, or tells itself for later. */
export type Command =
  | { readonly kind: 'pause' | 'idle' | 'grace-over' }
  | { readonly kind: 'stop'; readonly reason: string }
  | { readonly kind: 'invalidate'; readonly tables: readonly QueryTable[] }
  | { readonly kind: 'retry' | 'cancel' | 'wake' | 'due'; readonly node: string };

/** Does what commands say to nodes and tasks, and remembers what they say about the run. */
export interface Operator {
  stop(reason: string): void;
  pause(): void;
  /** The wait for work that was told to end is over. */
  endGrace(): void;
  cancel(node: string): void;
  /** Makes a node ready once more: its wait is over, or someone wants it to run again. */
  runAgain(node: string, why: 'due' | 'wake' | 'retry'): void;
  /** A stopped run that is taken up does what its stop canceled. */
  reviveCanceled(): void;
  readonly stopping: { readonly reason: string } | undefined;
  readonly isPausing: boolean;
  readonly isGraceOver: boolean;
  close(): void;
}

export function createOperator(
  options: PlanRunOptions,
  memory: RunMemory,
  structure: Structure,
  desk: TaskDesk,
  onGraceOver: () => void,
): Operator {
  const { records } = memory;
  let stopping: { readonly reason: string } | undefined;
  let isPausing = false;
  let isGraceOver = false;
  let cancelGrace: (() => void) | undefined;

  function cancel(node: string): void {
    const task = desk.taskOf(node);
    if (task === undefined) return;
    desk.cancel(task.id);
    const record = records.get(node);
    if (task.status !== 'pending' || record === undefined || record.gone === true) return;
    records.set(node, { ...record, status: 'canceled' });
    structure.touch(node);
  }

  return {
    stop(reason) {
      if (stopping !== undefined) return;
      stopping = { reason };
      for (const task of [...memory.tasks.values()]) cancel(task.node);
      cancelGrace = options.timers.after(options.stopGraceMs ?? DEFAULT_STOP_GRACE_MS, onGraceOver);
    },
    pause() {
      isPausing = true;
    },
    endGrace() {
      isGraceOver = true;
    },
    cancel,
    runAgain(node, why) {
      const record = records.get(node);
      if (record === undefined || record.gone === true) return;
      const isWaiting = record.status === 'blocked' || record.status === 'scheduled';
      if (why === 'retry' ? record.status === 'running' : !isWaiting) return;
      const { reason: _, ...rest } = record;
      records.set(node, { ...rest, status: 'idle' });
      structure.touch(node);
    },
    reviveCanceled() {
      for (const [node, record] of records) {
        if (record.status === 'canceled' && record.gone === undefined) records.set(node, { ...record, status: 'idle' });
      }
    },
    get stopping() {
      return stopping;
    },
    get isPausing() {
      return isPausing;
    },
    get isGraceOver() {
      return isGraceOver;
    },
    close: () => cancelGrace?.(),
  };
}
