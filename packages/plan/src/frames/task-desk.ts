import { Bug, type RunId, type Timestamp } from '@signalbox/model';
import {
  cancelTask,
  DEFAULT_BACKOFF_MS,
  decideRetry,
  failTask,
  finishTask,
  forgetDeaths,
  HELD_BACK,
  MAX_OWNER_DEATHS,
  type NodeKey,
  type OrphanAction,
  ownerDeathsOf,
  recoverOrphan,
  releaseTask,
  retryWaitMs,
  startTask,
  type Task,
  type TaskError,
  type TaskId,
  taskIdOf,
} from '@signalbox/runs';
import type { TaskProgress } from '../nodes/handlers.ts';
import type { RunnableNode } from '../nodes/plan-node.ts';
import { isRecalled, iterationOf, type NodeRecord } from '../structure/node-record.ts';
import type { Structure } from '../structure/structure.ts';
import type { TaskTools } from '../workspaces/task-tools.ts';
import { canceledAtOnce } from './end-undriven.ts';
import type { PlanRunOptions } from './engine-options.ts';
import { putStatus } from './frame-rows.ts';
import { leftRecord } from './rest.ts';
import type { RunMemory } from './run-memory.ts';
import type { SubPlans } from './sub-plans.ts';
import type { TaskOutcome, TaskRequest } from './task-executor.ts';
import { doWork, runTask } from './task-work.ts';

/** What came from work since it was last asked. */
export type TaskNews =
  /** `value` is what handlers get of the output: it went through the author's schema. */
  | { readonly kind: 'ended'; readonly task: TaskId; readonly outcome: TaskOutcome; readonly value: unknown }
  /** The work had ended before, and its handler is called again. */
  | { readonly kind: 'recalled'; readonly ended: Task; readonly outcome: TaskOutcome; readonly value: unknown }
  | { readonly kind: 'progress'; readonly task: TaskId; readonly progress: TaskProgress };

/** What the end of an attempt means for its node. */
export type Verdict =
  | { readonly kind: 'succeeded' | 'canceled' }
  | { readonly kind: 'failed'; readonly error: TaskError }
  | { readonly kind: 'retrying'; readonly error: TaskError }
  | { readonly kind: 'blocked'; readonly reason: string };

/**
 * Where tasks are made, started, ended and canceled. It writes rows and events into the ledger; whoever calls it commits
 * before `begin` starts the work.
 */
export interface TaskDesk {
  /** A task for a node that is ready, or the one that waits for it. Its work begins with `begin`. */
  open(node: RunnableNode, isLimited?: boolean): Task;
  /** Starts the work of every task that was opened, and recalls what handlers have not taken in. Called after the commit. */
  begin(): void;
  /** Ends an attempt. */
  close(id: TaskId, outcome: TaskOutcome, stale: boolean): Verdict;
  /** Asks the work of a task to end. */
  cancel(id: TaskId): void;
  /**
   * Asks all work to end that can be done again; an attempt that fails then counts as none. Child runs, and work whose effects
   * nobody can undo, go on.
   */
  giveUp(): void;
  /** Asks the work of a task to end, and does not wait for what comes of it. */
  letGo(id: TaskId): void;
  /** Ends every task as canceled, without waiting for its work. */
  terminate(): void;
  /** The run comes to rest: work that is under way is let go of, to begin again when the run is taken up. */
  release(): void;
  /** Work of a process that is gone: it starts again, or is given up. */
  recover(): void;
  taskOf(node: string): Task | undefined;
  /** Work that goes on. */
  readonly working: number;
  /** Work that goes on, or goes on by itself later. */
  readonly busy: number;
  /** Aborts everything and forgets it. */
  abandon(): void;
}

export function createTaskDesk(
  options: PlanRunOptions,
  memory: RunMemory,
  structure: Structure,
  subPlans: SubPlans,
  onNews: (news: TaskNews) => void,
  onDue: (node: string) => void,
  toolsOf: (request: TaskRequest) => TaskTools,
): TaskDesk {
  const { run, clock, timers, rng, owner, executor } = options;
  const { ledger, tasks, records } = memory;
  const byNode = new Map<string, TaskId>();
  const controls = new Map<TaskId, AbortController>();
  const waits = new Map<TaskId, () => void>();
  const givenUp = new Set<TaskId>();
  let opened: { readonly task: Task; readonly node: RunnableNode; readonly isLimited: boolean }[] = [];
  for (const task of tasks.values()) byNode.set(task.node, task.id);

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
  const waitFor = (task: Task) => {
    const ms = retryWaitMs(task, clock.now());
    waits.set(
      task.id,
      timers.after(ms, () => {
        waits.delete(task.id);
        onDue(task.node);
      }),
    );
  };

  const requestFor = (task: Task, node: RunnableNode, progress: TaskRequest['progress']) => {
    const loop = structure.loopOf(node.id);
    return {
      run,
      task: task.id,
      node,
      iteration: loop === undefined ? 0 : iterationOf(records.get(loop)),
      totalIteration: task.iteration,
      attempt: task.retryCount + 1,
      progress,
    };
  };

  /** Brings what the work of a node came to through the author's schema once more. */
  const recall = (node: RunnableNode, ended: Task) => {
    memory.unhandled.delete(node.id);
    const control = new AbortController();
    controls.set(ended.id, control);
    const work = async (started: TaskRequest) =>
      options.recorded === undefined ? recordedEnd(ended) : executor.execute(started);
    void doWork(
      requestFor(ended, node, () => {}),
      ended,
      control,
      work,
      timers,
    ).then(({ outcome, value }) => {
      if (controls.get(ended.id) !== control) return;
      controls.delete(ended.id);
      onNews({ kind: 'recalled', ended, outcome, value });
    });
  };

  /** The task that was opened for the same work before, and waits. One for other work is canceled. */
  const waitingTask = (node: RunnableNode): Task | undefined => {
    const task = tasks.get(byNode.get(node.id) as TaskId);
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

  /** What becomes of an attempt that a person must allow first; undefined where it may begin. */
  const refusal = (
    task: Task,
    started: TaskRequest,
    isLimited: boolean,
  ): Promise<TaskOutcome | undefined> | undefined => {
    const deaths = ownerDeathsOf(task);
    const isDoubted = deaths.length >= MAX_OWNER_DEATHS;
    const orphaned = memory.orphaned.filter(
      ({ node, iteration, signature }) =>
        node === task.node && iteration === task.iteration && signature === task.signature,
    );
    if (!isDoubted && !isLimited && orphaned.length === 0) return undefined;
    const unknown = orphaned.length === 0 ? {} : { orphaned };
    return executor.allow?.(started, { ...(isDoubted && { deaths }), ...unknown, isLimited });
  };

  const wantedChildren = () => {
    const wanted = [...tasks.values()].filter(({ status, node }) => status !== 'canceling' && isSubPlan(node));
    return new Set(wanted.map(({ node, iteration }) => subPlans.idOf(node, iteration, childOf(records.get(node)))));
  };
  const dropChild = ({ node, iteration }: Task) => {
    if (isSubPlan(node)) subPlans.drop(node, iteration, childOf(records.get(node)));
  };
  const isSubPlan = (node: string) => (structure.nodeOf(node)?.kind ?? memory.formerNodes.get(node)) === 'subplan';

  return {
    open(node, isLimited = false) {
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
      waits.get(task.id)?.();
      waits.delete(task.id);
      keep(task);
      ledger.event('task.started', fieldsOf(task));
      const { iteration, signature } = task;
      const isSame = before?.signature === signature && before.iteration === iteration;
      records.set(node.id, {
        status: 'running',
        iteration,
        signature,
        ...(restart === 0 ? {} : { restart }),
        ...(policy === undefined ? {} : { policy }),
        ...(waiting === undefined || before?.told === undefined ? {} : { told: before.told }),
        ...(isSame && before.status === 'idle' && before.child !== undefined ? { child: before.child } : {}),
      });
      opened.push({ task, node, isLimited });
      return task;
    },
    begin() {
      const starting = opened;
      opened = [];
      for (const { task, node, isLimited } of starting) {
        const control = new AbortController();
        controls.set(task.id, control);
        const request = requestFor(task, node, progress => {
          if (controls.get(task.id) === control)
            onNews({ kind: 'progress', task: task.id, progress: memory.clean(progress) });
        });
        const record = records.get(node.id);
        const child = childOf(record);
        const place = { child, isRevived: child !== (record?.restart ?? 0) };
        const work = async (started: TaskRequest) => {
          if (options.recorded !== undefined) return executor.execute(started);
          const asked = refusal(task, started, isLimited);
          const refused = asked && (await asked);
          if (refused !== undefined) return refused;
          if (node.kind === 'task') return runTask(node, started, toolsOf(started));
          return node.kind === 'subplan' ? subPlans.work(node, started, place) : executor.execute(started);
        };
        void doWork(request, task, control, work, timers, record?.policy?.timeoutMs, memory.clean).then(
          ({ outcome, value }) => {
            if (controls.get(task.id) !== control) return;
            controls.delete(task.id);
            onNews({ kind: 'ended', task: task.id, outcome, value });
          },
        );
      }
      for (const [id, task] of memory.unhandled) {
        const node = structure.nodeOf(id) as RunnableNode | undefined;
        if (node !== undefined && isRecalled(records.get(id))) recall(node, task);
      }
    },
    close(id, outcome, stale) {
      const task = tasks.get(id);
      if (task === undefined) throw new Bug(`task ${id} is not under way`);
      const at = ledger.stamp();
      const handledFrame = Math.max(0, memory.nextFrame - 1);
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
          keep({ ...rest, status: 'pending', blockReason: outcome.reason });
          return { kind: 'blocked', reason: outcome.reason };
        }
        case 'failed': {
          const isGivenUp = givenUp.delete(id) && outcome.error.code !== HELD_BACK;
          const error = isGivenUp ? GIVEN_UP : outcome.error;
          const retry = canceling || stale ? undefined : decideRetry(task, error, clock.now(), rng);
          if (retry?.kind === 'retry') {
            keep(retry.task);
            waitFor(retry.task);
            ledger.event('task.retry', { ...fieldsOf(task), error, retryAt: retry.task.nextRetryAt ?? at });
            return { kind: 'retrying', error };
          }
          ended(failTask(task, error, at), canceling ? 'canceled' : 'error', error);
          return canceling ? { kind: 'canceled' } : { kind: 'failed', error };
        }
      }
    },
    cancel(id) {
      const task = tasks.get(id);
      if (task === undefined || task.status === 'canceling') return;
      waits.get(id)?.();
      waits.delete(id);
      const canceled = cancelTask(task, ledger.stamp());
      keep(canceled);
      if (canceled.status === 'canceled') {
        ledger.event('task.ended', { ...fieldsOf(task), outcome: 'canceled', stale: false });
        dropChild(task);
      }
      controls.get(id)?.abort(new Error('canceled'));
    },
    giveUp() {
      for (const [id, control] of [...controls]) {
        const task = tasks.get(id);
        if (task === undefined || task.effects === 'external' || isSubPlan(task.node)) continue;
        givenUp.add(id);
        control.abort(new Error(GIVEN_UP.message));
      }
    },
    letGo(id) {
      const control = controls.get(id);
      controls.delete(id);
      control?.abort(new Error('the time of the run is over'));
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
        records.set(task.node, canceled);
        putStatus(memory, task.node, canceled);
        structure.touch(task.node);
      }
      this.abandon();
    },
    release() {
      const unbegun = new Set(opened.map(({ task }) => task.id));
      for (const task of [...tasks.values()]) {
        if (task.status === 'pending') continue;
        // What was never begun has no effects.
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
        if (task.nextRetryAt !== undefined) waitFor(task);
        const isDoubted = ownerDeathsOf(task).length >= MAX_OWNER_DEATHS;
        const kept = isDoubted ? task : forgetDeaths(task);
        if (kept !== task) keep(kept);
      }
      subPlans.sweep(wantedChildren());
    },
    taskOf(node) {
      const id = byNode.get(node);
      return id === undefined ? undefined : tasks.get(id);
    },
    get working() {
      return controls.size + opened.length + subPlans.busy;
    },
    get busy() {
      return this.working + waits.size;
    },
    abandon() {
      for (const cancel of waits.values()) cancel();
      waits.clear();
      opened = [];
      const aborting = [...controls.values()];
      controls.clear();
      for (const control of aborting) control.abort(new Error('the run was let go'));
    },
  };
}

/** Nobody's fault: the work made way for a pause, and is done again when the run goes on. */
const GIVEN_UP: TaskError = {
  class: 'retryable',
  code: HELD_BACK,
  message: 'The run was paused while this was under way.',
  retryAfterMs: 0,
};

/** How a task came to its end. */
export function recordedEnd({ status, result, lastError }: Task): TaskOutcome {
  if (status === 'done' || lastError === undefined) return { kind: 'done', output: result ?? null };
  return { kind: 'failed', error: lastError };
}

/** Work of the same iteration that began before has other task ids. */
function nextRestart(before: NodeRecord | undefined, iteration: number): number {
  return before?.signature !== undefined && before.iteration === iteration ? (before.restart ?? 0) + 1 : 0;
}

/** The restart that names the child run of a sub-plan. */
function childOf(record: NodeRecord | undefined): number {
  return record?.child ?? record?.restart ?? 0;
}

/** Asking a person and watching a child run do no harm when they are cut off, and are not tried again but gone on with. */
function recovered(
  task: Task,
  kind: string | undefined,
  { orphanPolicy = 'retry', owner, formerOwner: former }: PlanRunOptions,
  at: Timestamp,
): ReturnType<typeof recoverOrphan> {
  const isWatched = kind === 'subplan' || kind === 'human';
  if (!isWatched || task.status === 'canceling') return recoverOrphan(task, orphanPolicy, { at, owner, former });
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
    effects: effectsOf(node),
    retryCount: 0,
    maxRetries: node.data.retries,
    backoffMs: DEFAULT_BACKOFF_MS,
    createdAt,
  };
}

/** How often its work is tried again, and after which wait: as its author wrote, unless an operator said otherwise. */
function rulesOf(
  node: RunnableNode,
  policy: NodeRecord['policy'],
  maxRetries = Number.POSITIVE_INFINITY,
): Pick<Task, 'maxRetries' | 'backoffMs'> {
  return {
    maxRetries: Math.min(policy?.retries ?? node.data.retries, maxRetries),
    backoffMs: policy?.backoffMs ?? DEFAULT_BACKOFF_MS,
  };
}

/** An agent changes files through tools that can be undone; a question and a sub-plan keep books of their own. */
function effectsOf(node: RunnableNode): Task['effects'] {
  if (node.kind === 'task') return node.data.effects ?? 'none';
  return node.kind === 'human' || node.kind === 'subplan' ? 'none' : 'undoable';
}
