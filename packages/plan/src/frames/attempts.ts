import { defined, issuesText, timerDue, truncateUtf8 } from '@signalbox/model';
import { MAX_OWNER_DEATHS, ownerDeathsOf, retryWaitMs, type Task, type TaskError, type TaskId } from '@signalbox/runs';
import type * as z from 'zod';
import { notingReads } from '../errors/noted-reads.ts';
import { thrownPlace } from '../errors/thrown-place.ts';
import { limitedByAuthor, thrownTaskError } from '../failures/attempt-error.ts';
import { asDenied } from '../failures/denial.ts';
import type { TaskContext, TaskProgress } from '../nodes/handlers.ts';
import { workEntry } from '../nodes/node-kinds.ts';
import { limitsOf, type RunnableNode, type SubPlanNode, type TaskNode, type TimerNode } from '../nodes/plan-node.ts';
import { asGiven, type CleanData } from '../state/clean-data.ts';
import { frozen } from '../state/frozen.ts';
import { CHILDREN_PER_RESTART, childOf, iterationOf } from '../structure/node-record.ts';
import type { FileBook } from '../workspaces/file-book.ts';
import { type TaskTools, taskTools } from '../workspaces/task-tools.ts';
import type { CommitsAhead } from './commits-ahead.ts';
import type { EngineBase } from './engine.ts';
import { DEFAULT_STOP_GRACE_MS, TASK_STOP_GRACE_MS } from './engine-options.ts';
import type { Timers } from './frame-scheduler.ts';
import type { SubPlans } from './sub-plans.ts';
import type { TaskOutcome, TaskRequest } from './task-executor.ts';
import { dueOf, runTimer } from './timer-work.ts';

/** News from work since the last call. */
export type TaskNews =
  /** `value` is the output for handlers, parsed by the author's schema. */
  | { readonly kind: 'ended'; readonly task: TaskId; readonly outcome: TaskOutcome; readonly value: unknown }
  /** The work had already ended, and its handler is called again. */
  | { readonly kind: 'recalled'; readonly ended: Task; readonly outcome: TaskOutcome; readonly value: unknown }
  | { readonly kind: 'progress'; readonly task: TaskId; readonly progress: TaskProgress };

/** The work of this process: running attempts, waits for the next ones, and their results. It writes nothing. */
export interface Attempts {
  /** Starts the work of a task. If `isLimited`, a person is asked first; `waited` is what it waited for before. */
  start(task: Task, node: RunnableNode, isLimited: boolean, waited: string | undefined): void;
  /** Parses the recorded output of a node's work by the author's schema again. */
  recall(node: RunnableNode, ended: Task): void;
  /** Asks the work of a task to end. */
  abort(id: TaskId, why: string): void;
  /** The same for work that is canceled: after its grace period nobody waits for it any more. */
  cancel(task: Task): void;
  /** Asks the work of a task to end, with a given outcome. */
  letGo(id: TaskId, why: string, outcome: TaskOutcome): void;
  /** Makes the task's node due again at its time. */
  wait(task: Task): void;
  endWait(id: TaskId): void;
  takeNews(): readonly TaskNews[];
  readonly hasNews: boolean;
  /** Tasks with running work. */
  ids(): readonly TaskId[];
  readonly working: number;
  readonly waiting: number;
  /** Aborts everything and forgets it. */
  abandon(): void;
}

export function createAttempts(
  base: EngineBase,
  subPlans: SubPlans,
  files: FileBook,
  ahead: Pick<CommitsAhead, 'durable'>,
): Attempts {
  const { options, memory, structure } = base;
  const { run, clock, timers, executor } = options;
  const { records } = memory;
  const controls = new Map<TaskId, AbortController>();
  /** How long work may take to end after it was asked to. */
  const graces = new Map<TaskId, number>();
  const graceTimers = new Map<TaskId, () => void>();
  const waits = new Map<TaskId, () => void>();
  let news: TaskNews[] = [];

  const tell = (item: TaskNews) => {
    news.push(item);
    base.request(item.kind === 'progress' ? 'task_progressed' : 'task_finished');
  };

  /** Does the work and reports its result, unless nobody waits for it any more. */
  const begin = (node: RunnableNode, task: Task, work: Work, newsOf: (attempt: Attempt) => TaskNews) => {
    const control = new AbortController();
    const graceMs = graceOf(node, options);
    controls.set(task.id, control);
    graces.set(task.id, graceMs);
    const isAwaited = () => controls.get(task.id) === control;
    const loop = structure.loopOf(node.id);
    const request: TaskRequest = {
      run,
      task: task.id,
      node,
      iteration: loop === undefined ? 0 : iterationOf(records.get(loop)),
      totalIteration: task.iteration,
      attempt: task.retryCount + 1,
      progress(progress) {
        if (work.hasProgress && isAwaited())
          tell({ kind: 'progress', task: task.id, progress: memory.clean(progress) });
      },
      signal: control.signal,
    };
    void doWork(request, task, control, { ...work, graceMs }, timers).then(attempt => {
      if (!isAwaited()) return;
      controls.delete(task.id);
      endGrace(task.id);
      tell(newsOf(attempt));
    });
  };

  const endGrace = (id: TaskId) => {
    graces.delete(id);
    graceTimers.get(id)?.();
    graceTimers.delete(id);
  };

  /** The outcome of an attempt that a person must allow first; undefined if it may start. */
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

  /** A sleeping machine stops its timers, not the time: a long wait checks the clock on the way. */
  const wait = (task: Task) => {
    const look = () => {
      if (retryWaitMs(task, clock.now()) > 0) return wait(task);
      waits.delete(task.id);
      base.later({ kind: 'due', node: task.node }, 'timer');
    };
    waits.set(task.id, timers.after(Math.min(retryWaitMs(task, clock.now()), LOOK_MS), look));
  };

  return {
    start(task, node, isLimited, waited) {
      const record = records.get(node.id);
      const child = childOf(record);
      const place = {
        child: child + task.retryCount * CHILDREN_PER_RESTART,
        isRevived: child !== (record?.restart ?? 0),
      };
      const execute = async (started: TaskRequest) => {
        if (options.recorded !== undefined) return executor.execute(started);
        const asked = refusal(task, started, isLimited);
        const refused = asked && (await asked);
        if (refused !== undefined) return refused;
        switch (workEntry(node.kind).by) {
          case 'plan':
            return runTask(node as TaskNode, started, taskTools(options, files, started, ahead));
          case 'sub-plan':
            return subPlans.work(node as SubPlanNode, started, place);
          case 'clock':
            return runTimer(timerDue(waited) ?? dueOf((node as TimerNode).data, task.createdAt), clock);
          case 'person':
            return asDenied(node, await executor.execute(started));
          case 'agent':
          case 'host':
            return executor.execute(started);
        }
      };
      // A timeout hurries no person.
      const isTimed = workEntry(node.kind).by !== 'person';
      const timeoutMs = isTimed ? (record?.policy?.timeoutMs ?? limitsOf(node).timeoutMs) : undefined;
      begin(node, task, { execute, timeoutMs, clean: memory.clean, hasProgress: true }, attempt => ({
        kind: 'ended',
        task: task.id,
        ...attempt,
      }));
    },
    recall(node, ended) {
      const execute = async (started: TaskRequest) =>
        options.recorded === undefined ? recordedEnd(ended) : executor.execute(started);
      const { timeoutMs } = limitsOf(node);
      begin(node, ended, { execute, timeoutMs, clean: asGiven, hasProgress: false }, attempt => ({
        kind: 'recalled',
        ended,
        ...attempt,
      }));
    },
    abort: (id, why) => controls.get(id)?.abort(new Error(why)),
    cancel(task) {
      const { id } = task;
      const control = controls.get(id);
      const graceMs = graces.get(id);
      if (control === undefined || graceMs === undefined) return;
      control.abort(new Error('canceled'));
      // In a replay, work ends when it ended.
      if (options.recorded !== undefined) return;
      const giveUp = () => {
        if (controls.get(id) !== control) return;
        controls.delete(id);
        endGrace(id);
        tell({
          kind: 'ended',
          task: id,
          outcome: { kind: 'failed', error: deafError(task, graceMs) },
          value: undefined,
        });
      };
      graceTimers.set(id, timers.after(graceMs, giveUp));
    },
    letGo(id, why, outcome) {
      const control = controls.get(id);
      controls.delete(id);
      endGrace(id);
      control?.abort(new Error(why));
      news.push({ kind: 'ended', task: id, outcome, value: undefined });
    },
    wait,
    endWait(id) {
      waits.get(id)?.();
      waits.delete(id);
    },
    takeNews() {
      const taken = news;
      news = [];
      return taken;
    },
    get hasNews() {
      return news.length > 0;
    },
    ids: () => [...controls.keys()],
    get working() {
      return controls.size;
    },
    get waiting() {
      return waits.size;
    },
    abandon() {
      for (const cancel of waits.values()) cancel();
      waits.clear();
      for (const id of [...graces.keys()]) endGrace(id);
      const aborting = [...controls.values()];
      controls.clear();
      for (const control of aborting) control.abort(new Error('the run was let go'));
    },
  };
}

/** How a task ended. */
export function recordedEnd({ status, result, lastError }: Task): TaskOutcome {
  if (status === 'done' || lastError === undefined) return { kind: 'done', output: result ?? null };
  return { kind: 'failed', error: lastError };
}

/** How long work may take to end: a task has nothing to undo, an agent has, and a child run waits for its own work. */
function graceOf({ kind }: RunnableNode, { stopGraceMs }: EngineBase['options']): number {
  const { by } = workEntry(kind);
  if (by === 'sub-plan') return 2 * (stopGraceMs ?? DEFAULT_STOP_GRACE_MS);
  return stopGraceMs ?? (by === 'plan' ? TASK_STOP_GRACE_MS : DEFAULT_STOP_GRACE_MS);
}

/** Work that was canceled and goes on all the same: nobody knows how far it came. */
function deafError({ effects }: Task, graceMs: number): TaskError {
  const message = `It was canceled, and did not end within ${graceMs} ms. Its code may still be running.`;
  return { class: effects === 'external' ? 'unknown' : 'terminal', code: 'not-ended', message };
}

/** The longest wait between two checks of the clock. */
const LOOK_MS = 60_000;
const MESSAGE_BYTES = 2000;

/** A finished attempt: its outcome, and the output for handlers. */
interface Attempt {
  readonly outcome: TaskOutcome;
  readonly value: unknown;
}

interface Work {
  execute(request: TaskRequest): Promise<TaskOutcome>;
  readonly timeoutMs: number | undefined;
  readonly clean: CleanData;
  readonly hasProgress: boolean;
}

interface TimedWork extends Work {
  /** How long it may take to end once its time is over. */
  readonly graceMs: number;
}

/** One attempt at a node's work. Never rejects: every failure is an outcome. */
async function doWork(
  request: TaskRequest,
  task: Task,
  control: AbortController,
  { execute, timeoutMs, graceMs, clean }: TimedWork,
  timers: Timers,
): Promise<Attempt> {
  const { node } = request;
  const reads = new Set<string>();
  let timedOut = false;
  let cancelTimer: (() => void) | undefined;
  try {
    const work = notingReads(reads, () => execute(request));
    if (timeoutMs === undefined) return await checked(request, clean(await work));
    // Work that ignores its signal must not hold up the run, and work that does not must end before its next attempt.
    const overtime = new Promise<never>((_, reject) => {
      cancelTimer = timers.after(timeoutMs, () => {
        timedOut = true;
        const reason = new Error(`no end after ${timeoutMs} ms`);
        const giveUp = () =>
          reject(
            new Error(`${reason.message}, nor ${graceMs} ms after it was asked to end: its code may still be running`),
          );
        cancelTimer = timers.after(graceMs, giveUp);
        control.abort(reason);
      });
    });
    const outcome = await Promise.race([work, overtime]).finally(() => cancelTimer?.());
    if (timedOut) throw control.signal.reason;
    return await checked(request, clean(outcome));
  } catch (error) {
    const thrown = thrownPlace(timedOut ? undefined : error, { element: node, reads }, clean);
    const known = thrownTaskError(error, task, node.kind, timedOut, clean);
    const why = limitedByAuthor({ ...known, ...defined({ thrown }) }, error, node, request.attempt);
    // A child run that timed out is stopped; another is started only if its author wants retries.
    return failed(node.kind === 'subplan' && timedOut && !isRetried(node) ? { ...why, class: 'terminal' } : why);
  } finally {
    cancelTimer?.();
  }
}

/** The output parsed by the author's schema: only the plan's thread has that code. */
function checked({ node, attempt }: TaskRequest, outcome: TaskOutcome): Attempt | Promise<Attempt> {
  if (outcome.kind === 'failed') return failed(limitedByAuthor(ofChild(node, outcome.error), undefined, node, attempt));
  if (outcome.kind !== 'done') return { outcome, value: undefined };
  const schema = 'schema' in node.code ? node.code.schema : undefined;
  if (schema === undefined) return { outcome, value: outcome.output };
  return schema.safeParseAsync(outcome.output).then(parsed => parsedAttempt(node, outcome, parsed));
}

/** A sub-plan that failed is not started again, unless its author wants that and nothing in it threw `Terminal`. */
function ofChild(node: RunnableNode, error: TaskError): TaskError {
  const isOver = error.code === 'sub_plan_failed' || error.code === 'sub_plan_stalled';
  const mayBeRetried = node.kind === 'subplan' && isRetried(node) && error.final !== true;
  return mayBeRetried && isOver ? { ...error, class: 'retryable' } : error;
}

function isRetried({ data }: RunnableNode): boolean {
  return 'attempts' in data && data.attempts !== undefined;
}

function parsedAttempt(node: RunnableNode, outcome: TaskOutcome, parsed: z.ZodSafeParseResult<unknown>): Attempt {
  if (parsed.success) return { outcome, value: parsed.data };
  return failed({
    class: 'terminal',
    code: 'output-invalid',
    message: truncateUtf8(issuesText(parsed.error.issues, 'The output'), MESSAGE_BYTES),
    ...defined({ thrown: thrownPlace(undefined, { element: node }, asGiven) }),
  });
}

function failed(error: TaskError): Attempt {
  return { outcome: { kind: 'failed', error }, value: undefined };
}

/** Calls the author's function. */
async function runTask(
  node: Extract<RunnableNode, { readonly kind: 'task' }>,
  request: TaskRequest,
  tools: TaskTools,
): Promise<TaskOutcome> {
  const { signal, iteration, attempt, progress } = request;
  const { artifact, fs, workspace } = tools;
  const input = node.data.input ?? null;
  const context: TaskContext = { input, signal, iteration, attempt, progress, artifact, fs, workspace };
  const output = await node.code.run(context);
  await tools.settled();
  if (output === undefined) return { kind: 'done', output: null };
  const plain = frozen(output);
  if (plain.ok) return { kind: 'done', output: plain.value };
  const message = `The task returned what is not plain data: ${plain.error}.`;
  return { kind: 'failed', error: { class: 'terminal', code: 'output-not-plain', message } };
}
