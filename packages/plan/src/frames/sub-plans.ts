import { defined, type RunId } from '@signalbox/model';
import { type NewRun, type NodeKey, type RunRecord, subPlanRunId, type TaskError } from '@signalbox/runs';
import type { SubPlanNode } from '../nodes/plan-node.ts';
import { isLimited } from './commits-ahead.ts';
import { stopUndriven } from './end-undriven.ts';
import type { EngineBase } from './engine.ts';
import type { DrivenRun, PlanRunOptions, RunEnd } from './engine-options.ts';
import type { TaskOutcome, TaskRequest } from './task-executor.ts';

/** The nesting limit of runs. A plan that runs itself would otherwise never end. */
const MAX_SUB_PLAN_DEPTH = 16;

/**
 * The child runs of a run.
 *
 * 1. A sub-plan node has one child run for each time it is started; after a crash the same child is found again.
 * 2. A live child ends before its parent does. One whose node is gone is stopped, even if the parent died before.
 */
export interface SubPlans {
  /** Starts or resumes the child of a sub-plan node. */
  work(node: SubPlanNode, request: TaskRequest, place: ChildPlace): Promise<TaskOutcome>;
  /** Pauses the children, including those that start later. */
  pause(by: string, now: boolean): void;
  /** A waiting child is no longer wanted. */
  drop(node: string, iteration: number, child: number): void;
  /** After a crash: stops children that no task wants. */
  sweep(wanted: ReadonlySet<RunId>): void;
  idOf(node: string, iteration: number, child: number): RunId;
  /** Pauses live children at once. */
  suspend(): Promise<void>;
  /** Ends live children at once: for good, for as long as the parent rests, or without a trace. */
  end(how: 'terminate' | 'suspend' | 'abandon', reason: string): Promise<void>;
  /** Whether a child was stopped, not by us: its limit may stop the parent too. Resets when read. */
  takeStopped(): boolean;
  /** Children that are live or being stopped. */
  readonly busy: number;
}

interface ChildPlace {
  /** Which child of the node this is. */
  readonly child: number;
  /** The child was stopped with its parent, or failed in its plan, and the parent was resumed. */
  readonly isRevived: boolean;
}

type Inherited = Pick<NewRun, 'tags' | 'correlationId' | 'workingDirectory' | 'source' | 'mode' | 'globalMode'>;

export function createSubPlans({ options, memory, depth, startChild, later }: EngineBase): SubPlans {
  const { run, reader } = options;
  const live = new Set<DrivenRun>();
  const dropping = new Set<Promise<void>>();
  let paused: { readonly by: string; readonly now: boolean } | undefined;
  let isEnding = false;
  let wasStopped = false;

  const onDropped = () => later({ kind: 'idle' }, 'stop_requested');
  const idOf = (node: string, iteration: number, child: number) => subPlanRunId(run, node, iteration, child);

  function stopLater(stopping: Promise<unknown>): void {
    const done: Promise<void> = stopping.then(
      () => {},
      () => {},
    );
    dropping.add(done);
    void done.then(() => {
      dropping.delete(done);
      onDropped();
    });
  }

  function newChild(node: SubPlanNode, request: TaskRequest): NonNullable<PlanRunOptions['create']> {
    const parent: Inherited | undefined = memory.record ?? options.create;
    const { correlationId, workingDirectory } = parent ?? {};
    const source = options.source ?? parent?.source;
    const { maxRetriesPerTask } = memory.limits;
    const { plan } = node.code;
    return {
      name: plan.name,
      tags: parent?.tags ?? [],
      mode: parent?.mode ?? 'AUTO',
      globalMode: parent?.globalMode ?? 'IMPLEMENTATION',
      ...(correlationId === undefined ? {} : { correlationId }),
      ...(workingDirectory === undefined ? {} : { workingDirectory }),
      ...(source === undefined ? {} : { source }),
      origin: { kind: 'sub-plan', run, node: node.id as NodeKey, iteration: request.totalIteration },
      input: node.data.input ?? null,
      limits: maxRetriesPerTask === undefined ? {} : { maxRetriesPerTask },
      seed: Number.parseInt(request.task.slice(0, 8), 16),
    };
  }

  return {
    idOf,
    async work(node, request, { child, isRevived }) {
      if (depth >= MAX_SUB_PLAN_DEPTH) {
        return failed('sub_plan_depth', `Plans nest deeper than ${MAX_SUB_PLAN_DEPTH} levels at node ${node.id}.`);
      }
      const id = idOf(node.id, request.totalIteration, child);
      const known = await reader.run(id);
      const ended = endedBefore(id, known, isRevived);
      if (ended !== undefined) return ended;
      if (isEnding)
        return failed('sub_plan_lost', `Run ${run} ended before its child ${id} began.`, { class: 'retryable' });
      const { create: _, isNew: __, ...ports } = options;
      const created = known === undefined ? { create: newChild(node, request) } : {};
      const driven = startChild(
        // A limit may stop the child between any two of its tasks, too.
        {
          ...ports,
          ...created,
          plan: node.code.plan,
          run: id,
          commitsAhead: isLimited(memory.limits) ? undefined : options.commitsAhead,
        },
        depth + 1,
      );
      live.add(driven);
      options.onRun?.(id, driven);
      const { signal } = request;
      const stop = () => void driven.stop(`Node ${node.id} of run ${run} was canceled.`, `run ${run}`);
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop, { once: true });
      if (paused !== undefined) void driven.pause(paused.by, paused);
      try {
        const end = await driven.finished;
        if (end.status === 'stopped' && !signal.aborted) wasStopped = true;
        return outcomeOf(id, end);
      } finally {
        signal.removeEventListener('abort', stop);
        live.delete(driven);
        if (signal.aborted) onDropped();
      }
    },
    pause(by, now) {
      paused = { by, now };
      for (const driven of live) void driven.pause(by, { now });
    },
    drop(node, iteration, child) {
      stopLater(stopUndriven(options, idOf(node, iteration, child), `Node ${node} of run ${run} was canceled.`));
    },
    sweep(wanted) {
      for (const { id } of memory.children) {
        if (!wanted.has(id)) stopLater(stopUndriven(options, id, `Its node in run ${run} is not there any more.`));
      }
    },
    async suspend() {
      const ending = [...live];
      for (const driven of ending) driven.suspend();
      await Promise.allSettled(ending.map(driven => driven.finished));
    },
    async end(how, reason) {
      isEnding = true;
      const ending = [...live];
      for (const driven of ending) {
        if (how === 'terminate') void driven.terminate(reason, `run ${run}`);
        else if (how === 'suspend') driven.suspend();
        else driven.abandon();
      }
      await Promise.allSettled([...ending.map(driven => driven.finished), ...dropping]);
    },
    takeStopped() {
      const stopped = wasStopped;
      wasStopped = false;
      return stopped;
    },
    get busy() {
      return live.size + dropping.size;
    },
  };
}

/** A child that ended while nobody watched. A failed one is not started again: its own tasks were retried. */
function endedBefore(id: RunId, known: RunRecord | undefined, isRevived: boolean): TaskOutcome | undefined {
  switch (known?.status) {
    case 'failed': {
      const why = known.error?.message ?? 'for an unknown reason';
      return isRevived ? undefined : failed('sub_plan_failed', `Run ${id} failed: ${why}`, known.error);
    }
    case 'stopped':
      return isRevived ? undefined : failed('sub_plan_stopped', `Run ${id} was stopped: ${known.stopReason ?? ''}`);
    case 'stalled':
      return failed('sub_plan_stalled', `Run ${id} stalled.`);
    default:
      return undefined;
  }
}

function outcomeOf(id: RunId, end: RunEnd): TaskOutcome {
  switch (end.status) {
    case 'completed':
      return { kind: 'done', output: end.output };
    case 'waiting':
      return { kind: 'blocked', reason: 'sub_plan_waiting' };
    case 'paused':
      return { kind: 'blocked', reason: 'sub_plan_paused' };
    case 'failed':
      return failed('sub_plan_failed', `Run ${id} failed: ${end.error.message}`, end.error);
    case 'stopped':
      return failed('sub_plan_stopped', `Run ${id} was stopped: ${end.reason}`);
    case 'stalled':
      return failed('sub_plan_stalled', `Run ${id} stalled: ${end.evidence.summary}`);
    case 'lost':
      return failed('sub_plan_lost', `Run ${id} was let go: ${end.error.message}`, { class: 'retryable' });
  }
}

function failed(code: string, message: string, why: Partial<TaskError> = {}): TaskOutcome {
  const { class: kind = 'terminal', thrown, final } = why;
  return { kind: 'failed', error: { class: kind, code, message, ...defined({ thrown, final }) } };
}
