import { Bug, type RunId, type Timestamp } from '@signalbox/model';
import {
  cancelTask,
  DEFAULT_BACKOFF_MS,
  decideRetry,
  dueAt,
  failTask,
  finishTask,
  forgetDeaths,
  HELD_BACK,
  MAX_OWNER_DEATHS,
  type NodeKey,
  type OrphanAction,
  ownerDeathsOf,
  type RetryGrowth,
  recoverOrphan,
  releaseTask,
  startTask,
  type Task,
  type TaskError,
  type TaskId,
  taskIdOf,
} from '@signalbox/runs';
import { workEntry } from '../nodes/node-kinds.ts';
import { isRunnable, limitsOf, type PlanNode, type RunnableNode } from '../nodes/plan-node.ts';
import { CHILDREN_PER_RESTART, childOf, isRecalled, type NodeRecord } from '../structure/node-record.ts';
import type { Structure } from '../structure/structure.ts';
import type { FileBook } from '../workspaces/file-book.ts';
import { createAttempts, type TaskNews } from './attempts.ts';
import type { CommitsAhead } from './commits-ahead.ts';
import { canceledAtOnce } from './end-undriven.ts';
import type { EngineBase } from './engine.ts';
import type { PlanRunOptions } from './engine-options.ts';
import { putStatus } from './plan-view.ts';
import { leftRecord } from './rest.ts';
import { lastFrame } from './run-memory.ts';
import type { SubPlans } from './sub-plans.ts';
import type { TaskOutcome } from './task-executor.ts';

/** What the end of an attempt means for its node. */
type Verdict =
  | { readonly kind: 'succeeded' | 'canceled' }
  | { readonly kind: 'failed'; readonly error: TaskError }
  | { readonly kind: 'retrying'; readonly error: TaskError }
  | { readonly kind: 'blocked'; readonly reason: string };

/**
 * Creates, starts, ends and cancels tasks. It writes rows and events into the ledger; the caller commits before `begin` starts the work.
 */
export interface TaskDesk {
  /** Creates a task for a ready node, or reuses the waiting one. Its work starts with `begin`. */
  open(node: RunnableNode, isLimited: boolean): void;
  /** Starts the work of every opened task, and recalls results that no handler has taken in. Called after the commit. */
  begin(): void;
  /** Ends an attempt. */
  close(id: TaskId, outcome: TaskOutcome, stale: boolean): Verdict;
  /** News from work since the last call. */
  takeNews(): readonly TaskNews[];
  readonly hasNews: boolean;
  /** Cancels the task of a node, if it has one: its work is asked to end. */
  cancel(node: string): void;
  /**
   * Asks all repeatable work to end; an attempt that fails then does not count. Child runs, and work whose effects cannot be undone,
   * continue.
   */
  giveUp(): void;
  /** The run's time is over: all work except child runs is asked to end, without waiting for its result. */
  hold(): void;
  /** Ends every task as canceled, without waiting for its work. */
  terminate(): void;
  /** The run comes to rest: running work is released, to start again when the run is resumed. */
  release(): void;
  /** Work of a dead process: it starts again, or is given up. */
  recover(): void;
  taskOf(node: string): Task | undefined;
  /** The number of running tasks. */
  readonly working: number;
  /** The number of tasks that are running, or will continue on their own. */
  readonly busy: number;
  /** Aborts everything and forgets it. */
  abandon(): void;
}

/** A task whose work is about to start. */
interface Opened {
  readonly task: Task;
  readonly node: RunnableNode;
  readonly isLimited: boolean;
  /** What it waited for before. */
  readonly waited: string | undefined;
}

export function createTaskDesk(
  base: EngineBase,
  subPlans: SubPlans,
  files: FileBook,
  ahead: Pick<CommitsAhead, 'durable'>,
): TaskDesk {
  const { options, memory, structure, remember } = base;
  const { run, clock, rng, owner } = options;
  const { ledger, tasks, records } = memory;
  const attempts = createAttempts(base, subPlans, files, ahead);
  const byNode = new Map<string, TaskId>();
  const givenUp = new Set<TaskId>();
  let opened: Opened[] = [];
  for (const task of tasks.values()) byNode.set(task.node, task.id);

  const taskOf = (node: string) => {
    const id = byNode.get(node);
    return id === undefined ? undefined : tasks.get(id);
  };
  const keep = (task: Task) => {
    ledger.task(task);
    if (task.status === 'pending' || task.status === 'running' || task.status === 'canceling') {
      tasks.set(task.id, task);
      byNode.set(task.node, task.id);
    } else {
      tasks.delete(task.id);
      if (byNode.get(task.node) === task.id) byNode.delete(task.node);
    }
  };
  const fieldsOf = (task: Task) => ({
    task: task.id,
    node: task.node,
    iteration: task.iteration,
    attempt: task.retryCount + 1,
  });

  /** The waiting task that was opened for the same work. One for other work is canceled. */
  const waitingTask = (node: RunnableNode): Task | undefined => {
    const task = taskOf(node.id);
    if (task?.status !== 'pending') return undefined;
    if (task.signature === structure.signatureOf(node.id) && task.iteration === structure.scopeOf(node.id)) return task;
    keep(cancelTask(task, ledger.stamp()));
    ledger.event('task.ended', { ...fieldsOf(task), outcome: 'canceled', stale: true });
    return undefined;
  };

  /** Nobody works on the task any more. */
  const leave = (task: Task, action: OrphanAction) => {
    const left = { ...action.task, effects: task.effects };
    keep(left);
    if (left.status === 'orphaned' && left.effects === 'external') memory.orphaned.push(left);
    const record = records.get(task.node);
    if (action.kind === 'cancel') {
      ledger.event('task.ended', { ...fieldsOf(task), outcome: 'canceled', stale: true });
      if (record !== undefined && record.gone === undefined) records.set(task.node, { ...record, status: 'canceled' });
    } else {
      ledger.event('task.orphaned', { ...fieldsOf(task), action: action.kind });
      if (record !== undefined) records.set(task.node, leftRecord(record, action.kind));
    }
    structure.touch(task.node);
  };

  const wantedChildren = () => {
    const wanted = [...tasks.values()].filter(({ status, node }) => status !== 'canceling' && isSubPlan(node));
    return new Set(
      wanted.map(({ node, iteration, retryCount }) =>
        subPlans.idOf(node, iteration, childOf(records.get(node)) + retryCount * CHILDREN_PER_RESTART),
      ),
    );
  };
  const dropChild = ({ node, iteration, retryCount }: Task) => {
    const child = childOf(records.get(node)) + retryCount * CHILDREN_PER_RESTART;
    if (isSubPlan(node)) subPlans.drop(node, iteration, child);
  };
  const isSubPlan = (node: string) => (structure.nodeOf(node)?.kind ?? memory.formerNodes.get(node)) === 'subplan';

  return {
    open(node, isLimited) {
      const waiting = waitingTask(node);
      const before = records.get(node.id);
      const restart = waiting === undefined ? nextRestart(before, structure.scopeOf(node.id)) : (before?.restart ?? 0);
      const fresh = waiting ?? newTask(node, run, restart, structure, ledger.stamp());
      const policy = before?.policy;
      const task = startTask(
        { ...fresh, ...rulesOf(node, policy, memory.limits.maxRetriesPerTask) },
        owner,
        ledger.stamp(),
      );
      attempts.endWait(task.id);
      keep(task);
      ledger.event('task.started', fieldsOf(task));
      const { iteration, signature } = task;
      const isSame = before?.signature === signature && before.iteration === iteration;
      remember(node.id, {
        status: 'running',
        iteration,
        signature,
        ...(restart === 0 ? {} : { restart }),
        ...(policy === undefined ? {} : { policy }),
        ...(before?.edited === undefined ? {} : { edited: before.edited }),
        ...(waiting === undefined || before?.told === undefined ? {} : { told: before.told }),
        ...(isSame && before.status === 'idle' && before.child !== undefined ? { child: before.child } : {}),
      });
      opened.push({ task, node, isLimited, waited: waiting?.blockReason });
    },
    begin() {
      const starting = opened;
      opened = [];
      for (const { task, node, isLimited, waited } of starting) attempts.start(task, node, isLimited, waited);
      for (const [id, task] of memory.unhandled) {
        const node = structure.nodeOf(id) as RunnableNode | undefined;
        if (node === undefined || !isRecalled(records.get(id))) continue;
        memory.unhandled.delete(id);
        attempts.recall(node, task);
      }
    },
    close(id, outcome, stale) {
      const task = tasks.get(id);
      if (task === undefined) throw new Bug(`task ${id} is not under way`);
      const at = ledger.stamp();
      const handledFrame = lastFrame(memory);
      const ended = (row: Task, how: 'done' | 'error' | 'canceled', error?: TaskError) => {
        keep({ ...row, handledFrame });
        ledger.event('task.ended', {
          ...fieldsOf(task),
          outcome: how,
          stale,
          ...(error === undefined ? {} : { error }),
        });
      };
      const canceling = task.status === 'canceling';
      switch (outcome.kind) {
        case 'done':
          ended(finishTask(task, outcome.output, at), canceling ? 'canceled' : 'done');
          return { kind: canceling ? 'canceled' : 'succeeded' };
        case 'blocked': {
          if (canceling) {
            const error: TaskError = {
              class: 'terminal',
              code: 'canceled',
              message: `It was blocked: ${outcome.reason}.`,
            };
            ended(failTask(task, error, at), 'canceled');
            return { kind: 'canceled' };
          }
          const { leaseOwner: _, ...rest } = task;
          const waiting: Task = { ...rest, status: 'pending', blockReason: outcome.reason };
          keep(waiting);
          if (dueAt(waiting) !== undefined) attempts.wait(waiting);
          return { kind: 'blocked', reason: outcome.reason };
        }
        case 'failed': {
          const isGivenUp = givenUp.delete(id) && outcome.error.code !== HELD_BACK;
          const error = isGivenUp ? GIVEN_UP : outcome.error;
          const retry =
            canceling || stale
              ? undefined
              : decideRetry(
                  task,
                  error,
                  clock.now(),
                  rng,
                  growthOf(structure.nodeOf(task.node), records.get(task.node)?.policy),
                );
          if (retry?.kind === 'retry') {
            keep(retry.task);
            attempts.wait(retry.task);
            ledger.event('task.retry', { ...fieldsOf(task), error, retryAt: retry.task.nextRetryAt ?? at });
            return { kind: 'retrying', error };
          }
          ended(failTask(task, error, at), canceling ? 'canceled' : 'error', error);
          return canceling ? { kind: 'canceled' } : { kind: 'failed', error };
        }
      }
    },
    cancel(node) {
      const task = taskOf(node);
      if (task === undefined || task.status === 'canceling') return;
      attempts.endWait(task.id);
      const canceled = cancelTask(task, ledger.stamp());
      keep(canceled);
      if (canceled.status === 'canceled') {
        ledger.event('task.ended', { ...fieldsOf(task), outcome: 'canceled', stale: false });
        dropChild(task);
      }
      attempts.cancel(task);
    },
    giveUp() {
      for (const id of attempts.ids()) {
        const task = tasks.get(id);
        if (task === undefined || task.effects === 'external' || isSubPlan(task.node)) continue;
        givenUp.add(id);
        attempts.abort(id, GIVEN_UP.message);
      }
    },
    hold() {
      for (const task of tasks.values()) {
        if (task.status !== 'running' || structure.nodeOf(task.node)?.kind === 'subplan') continue;
        attempts.letGo(task.id, 'the time of the run is over', heldOutcome(task));
      }
    },
    terminate() {
      for (const task of [...tasks.values()]) {
        keep(canceledAtOnce(task, ledger.stamp()));
        ledger.event('task.ended', { ...fieldsOf(task), outcome: 'canceled', stale: false });
        if (task.status === 'pending') dropChild(task);
        const record = records.get(task.node);
        if (record === undefined || record.gone === true) continue;
        const { reason: _, told: __, ...rest } = record;
        const canceled = { ...rest, status: 'canceled' } as const;
        remember(task.node, canceled);
        putStatus(memory, task.node, canceled);
      }
      this.abandon();
    },
    release() {
      const unbegun = new Set(opened.map(({ task }) => task.id));
      for (const task of [...tasks.values()]) {
        if (task.status === 'pending') continue;
        // Work that never started has no effects.
        const known: Task = unbegun.has(task.id) ? { ...task, effects: 'none' } : task;
        leave(task, releaseTask(known, ledger.stamp()));
      }
      this.abandon();
    },
    recover() {
      for (const task of [...tasks.values()]) {
        if (task.status !== 'pending') {
          leave(task, recovered(task, memory.formerNodes.get(task.node), options, ledger.stamp()));
          continue;
        }
        if (dueAt(task) !== undefined) attempts.wait(task);
        const isDoubted = ownerDeathsOf(task).length >= MAX_OWNER_DEATHS;
        const kept = isDoubted ? task : forgetDeaths(task);
        if (kept !== task) keep(kept);
      }
      subPlans.sweep(wantedChildren());
    },
    taskOf,
    takeNews: attempts.takeNews,
    get hasNews() {
      return attempts.hasNews;
    },
    get working() {
      return attempts.working + opened.length + subPlans.busy;
    },
    get busy() {
      return this.working + attempts.waiting;
    },
    abandon() {
      opened = [];
      attempts.abandon();
    },
  };
}

/** Nobody's fault: the work made way for a pause, and is repeated when the run resumes. */
const GIVEN_UP: TaskError = {
  class: 'retryable',
  code: HELD_BACK,
  message: 'The run was paused while this was under way.',
  retryAfterMs: 0,
};

/** The outcome of work that is released because the run's time is over: it starts again, unless that could do harm. */
function heldOutcome({ effects }: Task): TaskOutcome {
  if (effects !== 'external') return { kind: 'blocked', reason: 'approval_required:confirmation' };
  const message = 'The time of the run was over while it worked, and nobody knows how far it came.';
  return { kind: 'failed', error: { class: 'unknown', code: 'time-over', message } };
}

/** Earlier work of the same iteration has other task ids. */
function nextRestart(before: NodeRecord | undefined, iteration: number): number {
  return before?.signature !== undefined && before.iteration === iteration ? (before.restart ?? 0) + 1 : 0;
}

/** Work that its process only watched did no harm when interrupted: it continues instead of being retried. */
function recovered(
  task: Task,
  kind: string | undefined,
  { orphanPolicy = 'retry', owner, formerOwner: former }: PlanRunOptions,
  at: Timestamp,
): ReturnType<typeof recoverOrphan> {
  if (workEntry(kind)?.cutOff !== 'goes on' || task.status === 'canceling')
    return recoverOrphan(task, orphanPolicy, { at, owner, former });
  const { leaseOwner: _, ...left } = task;
  return { kind: 'retry', task: { ...left, status: 'pending' } };
}

function newTask(node: RunnableNode, run: RunId, restart: number, structure: Structure, createdAt: Timestamp): Task {
  const iteration = structure.scopeOf(node.id);
  const signature = structure.signatureOf(node.id) ?? '';
  const key = node.id as NodeKey;
  return {
    id: taskIdOf(run, key, iteration, signature, restart),
    node: key,
    iteration,
    signature,
    status: 'pending',
    effects: workEntry(node.kind).effects(node.data as never),
    retryCount: 0,
    maxRetries: limitsOf(node).retries,
    backoffMs: DEFAULT_BACKOFF_MS,
    createdAt,
  };
}

/** How often work is retried, and after which wait: as its author wrote, unless an operator changed it. */
function rulesOf(
  node: RunnableNode,
  policy: NodeRecord['policy'],
  maxRetries = Number.POSITIVE_INFINITY,
): Pick<Task, 'maxRetries' | 'backoffMs'> {
  return {
    maxRetries: Math.min(policy?.retries ?? limitsOf(node).retries, maxRetries),
    backoffMs: policy?.backoffMs ?? limitsOf(node).backoff?.firstMs ?? DEFAULT_BACKOFF_MS,
  };
}

/** How the wait grows, where the author says so and no operator said otherwise. */
function growthOf(node: PlanNode | undefined, policy: NodeRecord['policy']): RetryGrowth | undefined {
  if (policy?.backoffMs !== undefined || node === undefined || !isRunnable(node)) return undefined;
  return limitsOf(node).backoff;
}
