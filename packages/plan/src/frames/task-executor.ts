import type { Json, RunId } from '@signalbox/model';
import type { OwnerDeath, Task, TaskError, TaskId } from '@signalbox/runs';
import type { TaskProgress } from '../nodes/handlers.ts';
import type { RunnableNode } from '../nodes/plan-node.ts';

/**
 * Does the work of agent and human nodes. The engine itself calls the functions of `Task` nodes and runs sub-plans.
 *
 * 1. It is called for a task only after the task's row is committed, and once per attempt; a node that is woken, or whose run is resumed,
 *    is called again in the same attempt.
 * 2. An exception counts as a failed attempt.
 * 3. It ends soon after the signal is aborted; its outcome is then stored without handlers.
 */
export interface TaskExecutor {
  execute(request: TaskRequest): Promise<TaskOutcome>;
  /**
   * Called before work of any kind that a person must allow first: undefined if it may start, otherwise the outcome of the attempt. Without
   * this, all work may start.
   */
  allow?(request: TaskRequest, doubts: StartDoubts): Promise<TaskOutcome | undefined>;
  /** The run's time is over: asks a person whether it may have more. Without this it is stopped. */
  timeOver?(run: RunId): Promise<void>;
}

/** Why work must not start on its own. */
export interface StartDoubts {
  /** The consecutive owner deaths at which the task was running. */
  readonly deaths?: readonly OwnerDeath[];
  /** Interrupted earlier attempts with effects outside, oldest first: whether they happened is unknown. */
  readonly orphaned?: readonly Task[];
  /** A limit of the run, or of an ancestor, is reached. */
  readonly isLimited?: boolean;
}

export interface TaskRequest {
  readonly run: RunId;
  readonly task: TaskId;
  readonly node: RunnableNode;
  /** The iteration of the innermost loop around the node, from 0. */
  readonly iteration: number;
  /** The same over the whole run: never repeated. */
  readonly totalIteration: number;
  /** 1 for the first attempt. */
  readonly attempt: number;
  readonly signal: AbortSignal;
  progress(progress: TaskProgress): void;
}

export type TaskOutcome =
  | { readonly kind: 'done'; readonly output: Json }
  | { readonly kind: 'failed'; readonly error: TaskError }
  /** It cannot continue before something else happens, such as a person's answer. It is called again when the node is woken. */
  | { readonly kind: 'blocked'; readonly reason: string };
