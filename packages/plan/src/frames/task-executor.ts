import type { Json, RunId } from '@signalbox/model';
import type { OwnerDeath, Task, TaskError, TaskId } from '@signalbox/runs';
import type { TaskProgress } from '../nodes/handlers.ts';
import type { RunnableNode } from '../nodes/plan-node.ts';

/**
 * Does the work of agent and human nodes. The engine itself calls the functions of `Task` nodes and runs sub-plans.
 *
 * 1. It is called for a task only after the task's row is committed, and once per attempt; a node that is woken, or whose
 *    run is taken up, is asked again in the same attempt.
 * 2. What it throws counts as a failed attempt.
 * 3. It ends soon after the signal is aborted; its outcome is kept then, without handlers.
 */
export interface TaskExecutor {
  execute(request: TaskRequest): Promise<TaskOutcome>;
  /**
   * Asked before work of any kind that a person must allow first: undefined where it may begin, else what becomes of the
   * attempt. Without this, all work may begin.
   */
  allow?(request: TaskRequest, doubts: StartDoubts): Promise<TaskOutcome | undefined>;
  /** The run has had its time: a person is asked whether it may have more. Without this it is stopped. */
  timeOver?(run: RunId): Promise<void>;
}

/** Why work must not begin by itself. */
export interface StartDoubts {
  /** The owner deaths in a row at which the task was running. */
  readonly deaths?: readonly OwnerDeath[];
  /** Earlier attempts with effects outside that were cut off, oldest first: whether they happened is unknown. */
  readonly orphaned?: readonly Task[];
  /** A limit of the run, or of one above it, is reached. */
  readonly isLimited?: boolean;
}

export interface TaskRequest {
  readonly run: RunId;
  readonly task: TaskId;
  readonly node: RunnableNode;
  /** Which body of the innermost loop around the node this is, counted from 0. */
  readonly iteration: number;
  /** The same over the whole run: never given twice. */
  readonly totalIteration: number;
  /** 1 for the first try. */
  readonly attempt: number;
  readonly signal: AbortSignal;
  progress(progress: TaskProgress): void;
}

export type TaskOutcome =
  | { readonly kind: 'done'; readonly output: Json }
  | { readonly kind: 'failed'; readonly error: TaskError }
  /** It cannot go on before something else happens, such as a person's answer. It is called again when the node is woken. */
  | { readonly kind: 'blocked'; readonly reason: string };
