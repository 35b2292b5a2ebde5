import { checkStop, NO_USAGE, type NodeKey, type RetryPolicy, subPlanRunId } from '@signalbox/runs';
import { editState } from '../forks/state-edit.ts';
import { childOf, isUnhandled, loopReset, type NodeRecord } from '../structure/node-record.ts';
import type { Command, CommandAnswer, OperatorCommand } from './command.ts';
import type { EngineBase } from './engine.ts';
import { DEFAULT_STOP_GRACE_MS, TASK_STOP_GRACE_MS } from './engine-options.ts';
import type { SubPlans } from './sub-plans.ts';
import type { TaskDesk } from './task-desk.ts';

/** Commands for nodes, tasks and the run as a whole. */
type RunCommand = Exclude<Command, { readonly kind: 'idle' | 'input' | 'invalidate' | 'files' }>;

/** Executes commands for nodes and tasks, and remembers those for the run. */
export interface Operator {
  obey(command: RunCommand): CommandAnswer;
  /** The plan or a limit stops the run. */
  stop(reason: string): void;
  /**
   * A resumed run repeats its questions to people, redoes work that its stop canceled, continues failed sub-plans, and calls failed
   * handlers again. With a corrected plan, failed work of the plan's own code starts again.
   */
  takeUp(): void;
  /** Whether the node was woken while its work was running and could not notice. Resets when read. */
  takeWoken(node: string): boolean;
  readonly stopping: { readonly reason: string } | undefined;
  readonly isPausing: boolean;
  /** The run must let go at once. */
  readonly isSuspended: boolean;
  /** Nothing more is waited for. */
  readonly isOver: boolean;
  /** Whether the run's time is over and a person can be asked for more. Resets when read. */
  takeTimeOver(): boolean;
  close(): void;
}

export function createOperator(base: EngineBase, desk: TaskDesk, subPlans: SubPlans): Operator {
  const { options, memory, structure, remember, later } = base;
  const { records, ledger } = memory;
  const { run, clock, timers } = options;
  const startedAt = memory.record?.startedAt === undefined ? clock.now() : Date.parse(memory.record.startedAt);
  const woken = new Set<string>();
  /** Whether someone can decide about interrupted work. */
  const canAsk = options.executor.allow !== undefined;
  let stopping: { readonly reason: string } | undefined;
  let isPausing = false;
  let isPausingNow = false;
  let isSuspended = false;
  let isOver = false;
  let isTimeOver = false;
  let cancelGrace: (() => void) | undefined;
  let cancelPause: (() => void) | undefined;
  let cancelTime: (() => void) | undefined;
  const watchTime = () => {
    cancelTime?.();
    const { maxWallClockMs } = memory.limits;
    if (maxWallClockMs === undefined) return;
    cancelTime = timers.after(Math.max(0, startedAt + maxWallClockMs - clock.now()), () =>
      later({ kind: 'time-over' }, 'stop_requested'),
    );
  };
  watchTime();

  function stop(reason: string): void {
    if (stopping !== undefined) return;
    stopping = { reason };
    for (const task of [...memory.tasks.values()]) cancel(task.node);
    const isOwnCode = [...memory.tasks.values()].every(({ node }) => structure.nodeOf(node)?.kind === 'task');
    const graceMs = isOwnCode ? TASK_STOP_GRACE_MS : DEFAULT_STOP_GRACE_MS;
    cancelGrace = timers.after(options.stopGraceMs ?? graceMs, () => later({ kind: 'grace-over' }, 'stop_requested'));
  }

  function cancel(node: string): boolean {
    const task = desk.taskOf(node);
    if (task === undefined || task.status === 'canceling') return false;
    desk.cancel(node);
    const record = records.get(node);
    if (task.status !== 'pending' || record === undefined || record.gone === true) return true;
    remember(node, { ...record, status: 'canceled' });
    return true;
  }

  /** Makes a node ready again: its wait is over, or a retry was requested. */
  function runAgain(node: string, why: 'due' | 'wake' | 'retry', policy?: RetryPolicy): boolean {
    const record = records.get(node);
    if (record === undefined || record.gone === true) return false;
    if (why === 'wake' && record.status === 'running') {
      woken.add(node);
      return true;
    }
    // A node about to start needs no retry, but may get a new policy.
    if (why === 'retry' && record.status === 'idle' && policy === undefined) return false;
    const isWaiting = record.status === 'blocked' || record.status === 'scheduled';
    if (why === 'retry' ? record.status === 'running' : !isWaiting) return false;
    const { reason: _, child, unhandled: __, ...rest } = record;
    remember(node, {
      ...rest,
      ...(why === 'retry' || child === undefined ? {} : { child }),
      ...(policy === undefined ? {} : { policy }),
      status: 'idle',
    });
    return true;
  }

  /** A sub-plan continues with its existing child run. */
  function revive(node: string): boolean {
    const record = records.get(node);
    if (record === undefined || record.gone === true) return false;
    const { reason: _, ...rest } = record;
    remember(node, { ...rest, child: childOf(record), status: 'idle' });
    return true;
  }

  /** Calls the handler of a node's end again, with the result of its work. */
  function recall(node: string): boolean {
    const record = records.get(node);
    if (record === undefined || !isUnhandled(record) || !memory.unhandled.has(node)) return false;
    remember(node, { ...record, status: 'scheduled' });
    return true;
  }

  /** Whether its child run failed in its plan. */
  function isBroken(node: string, record: NodeRecord): boolean {
    return memory.broken.has(subPlanRunId(run, node, record.iteration, childOf(record)));
  }

  /** Restarts the count of the loop's maximum at the current iteration. */
  function resetLoop(node: string): boolean {
    const record = records.get(node);
    const reset = record && loopReset(record);
    if (reset === undefined) return false;
    remember(node, reset);
    return true;
  }

  /** Asks again everything that waits for a person. */
  function wakeWaiting(): void {
    for (const [node, record] of records) {
      if (record.gone !== true && record.status === 'blocked' && waitsForPerson(record.reason, canAsk))
        runAgain(node, 'wake');
    }
  }

  const isKnown = (node: string) =>
    structure.nodeOf(node) !== undefined || (memory.formerNodes.has(node) && !structure.hasTree);

  /** Whether the run's time is over. The run is then stopped, unless a person can be asked for more. */
  function hasTimeEnded(): boolean {
    const elapsedMs = clock.now() - startedAt;
    const { maxWallClockMs } = memory.limits;
    const limits = { maxWallClockMs };
    const verdict = checkStop([{ run, limits, spent: NO_USAGE, elapsedMs, stopRequested: false }]);
    if (stopping !== undefined) return false;
    if (verdict.kind === 'go') {
      // A timer may be slightly early by the clock.
      watchTime();
      return false;
    }
    if (options.executor.timeOver !== undefined) return true;
    stop(verdict.reason);
    return false;
  }

  function act(
    command: Exclude<OperatorCommand, { readonly kind: 'wake' | 'due' | 'edit' | 'revive' | 'recall' | 'repair' }>,
  ): boolean {
    switch (command.kind) {
      case 'pause': {
        const { by, now = false } = command;
        if (isPausing && (isPausingNow || !now)) return false;
        isPausing = true;
        if (now) {
          isPausingNow = true;
          desk.giveUp();
          cancelPause = timers.after(options.stopGraceMs ?? DEFAULT_STOP_GRACE_MS, () =>
            later({ kind: 'suspend' }, 'stop_requested'),
          );
        }
        subPlans.pause(by, now);
        return true;
      }
      case 'stop': {
        if (stopping !== undefined) return false;
        stop(command.reason);
        return true;
      }
      case 'terminate': {
        if (isOver) return false;
        stopping = { reason: command.reason };
        isOver = true;
        return true;
      }
      case 'retry': {
        const { node, by, policy } = command;
        if (!runAgain(node, 'retry', policy)) return false;
        if (policy !== undefined) ledger.event('node.policy', { node: node as NodeKey, policy, by });
        return true;
      }
      case 'raise': {
        memory.limits = { ...memory.limits, ...command.limits };
        memory.areLimitsChanged = true;
        watchTime();
        wakeWaiting();
        return true;
      }
      case 'cancel':
        return cancel(command.node);
      case 'reset':
        return resetLoop(command.node);
    }
  }

  return {
    stop,
    obey(command) {
      if ('node' in command && !isKnown(command.node)) return 'unknown_node';
      switch (command.kind) {
        case 'suspend':
          isSuspended = true;
          return 'done';
        case 'grace-over':
          isOver = true;
          return 'done';
        case 'time-over':
          isTimeOver = hasTimeEnded();
          return 'done';
        case 'edit':
          return editState(options.plan, memory, command);
        case 'revive':
          return revive(command.node) ? 'done' : 'no_effect';
        case 'recall':
          return recall(command.node) ? 'done' : 'no_effect';
        case 'repair':
          return runAgain(command.node, 'retry') ? 'done' : 'no_effect';
        case 'wake':
        case 'due':
          return runAgain(command.node, command.kind) ? 'done' : 'no_effect';
        default: {
          if (!act(command)) return 'no_effect';
          const node = 'node' in command ? { node: command.node as NodeKey } : {};
          ledger.event('operator.acted', { action: command.kind, ...node, by: command.by });
          return 'done';
        }
      }
    },
    takeUp() {
      wakeWaiting();
      const wasStopped = memory.record?.status === 'stopped';
      for (const [node, record] of records) {
        if (record.gone === true) continue;
        const isSubPlan = memory.formerNodes.get(node) === 'subplan';
        if (isSubPlan && record.status === 'failed' && isBroken(node, record)) revive(node);
        if (record.status !== 'canceled' || !wasStopped) continue;
        const child = isSubPlan ? { child: childOf(record) } : {};
        records.set(node, { ...record, ...child, status: 'idle' });
      }
      for (const node of memory.repairable) runAgain(node, 'retry');
      // A replay calls only those that were called.
      if (options.recorded === undefined) for (const node of memory.unhandled.keys()) recall(node);
    },
    takeWoken: node => woken.delete(node),
    get stopping() {
      return stopping;
    },
    get isPausing() {
      return isPausing;
    },
    get isSuspended() {
      return isSuspended;
    },
    get isOver() {
      return isOver;
    },
    takeTimeOver() {
      const taken = isTimeOver;
      isTimeOver = false;
      return taken;
    },
    close() {
      cancelGrace?.();
      cancelPause?.();
      cancelTime?.();
    },
  };
}

/** Reasons that an answer may have resolved; waits for a time, or for an operator's retry, are left alone. */
function waitsForPerson(reason: string | undefined, canAsk: boolean): boolean {
  if (reason === 'outcome_unknown') return canAsk;
  return reason !== undefined && /^(approval_required:|human|sub_plan_)/.test(reason);
}
