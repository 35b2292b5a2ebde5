import type { Clock, ErrorEnvelope, IdSource, Json, Rng, RunId, SecretFilter, StallEvidence } from '@signalbox/model';
import type {
  Blobs,
  Commit,
  FormerOwner,
  NewRun,
  OrphanPolicy,
  OwnerId,
  RetryPolicy,
  RunReader,
  RunSource,
  StopConditions,
  StopVerdict,
  TaskError,
} from '@signalbox/runs';
import type { QueryTable } from '../context.ts';
import type { EffectCall } from '../effects/effect-registry.ts';
import type { TreeNode } from '../nodes/tree-json.ts';
import type { AnyPlan } from '../plan-definition.ts';
import type { ActionQueue } from '../state/action-queue.ts';
import type { PlanFiles } from '../workspaces/plan-files.ts';
import type { WorkspaceAccess } from '../workspaces/workspace-access.ts';
import type { CommandAnswer, StateEdit } from './command.ts';
import type { AheadLimits } from './commits-ahead.ts';
import type { TraceEntry } from './frame-phase.ts';
import type { Timers } from './frame-scheduler.ts';
import type { SignalFault } from './signals.ts';
import type { StormLimits } from './storm-guard.ts';
import type { TaskExecutor } from './task-executor.ts';

export interface PlanRunOptions {
  readonly plan: AnyPlan;
  readonly run: RunId;
  /** Creates the run with its first commit. Without this, the existing run is resumed. */
  readonly create?: Omit<NewRun, 'driver' | 'status' | 'phase'>;
  /** The plan's files. If a resumed run has others recorded, it continues with a new version of its plan, and so do its children (R38). */
  readonly source?: RunSource;
  /** Who started it, for its first event. */
  readonly startedBy?: string;
  readonly owner: OwnerId;
  /** The previous owner, if it died. */
  readonly formerOwner?: FormerOwner | undefined;
  readonly commit: Commit;
  /** The run may continue while commits are on their way: `commit` stores them in order, in another thread than `query` asks in. */
  readonly commitsAhead?: AheadLimits | undefined;
  readonly reader: RunReader;
  readonly executor: TaskExecutor;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: IdSource;
  /** For the jitter of retries; never visible to a plan. */
  readonly rng: Rng;
  readonly minFrameIntervalMs?: number;
  /** How long a plan with effects stays quiet before it counts as done. */
  readonly idleMs?: number;
  /** How long a stop waits for work that was asked to end. */
  readonly stopGraceMs?: number;
  readonly storm?: StormLimits;
  readonly strictEffects?: boolean;
  /** Records the volatile state that renders read, so that such frames can be verified. */
  readonly keepVolatile?: boolean;
  readonly environment?: string;
  /** The files under the run's working directory, for `ctx.fs`. */
  readonly files?: PlanFiles;
  /** Stores large artifact contents, and the files that renders read. */
  readonly blobs?: Pick<Blobs, 'put'>;
  /** The run's workspace, if it has one. */
  readonly workspace?: WorkspaceAccess;
  /** Answers `ctx.db.query`. It must refuse to write. */
  readonly query?: (sql: string, params: readonly Json[]) => readonly Json[];
  readonly orphanPolicy?: OrphanPolicy;
  /** The run was just created with nothing but its record, so nothing else needs to be read. */
  readonly isNew?: boolean;
  /** Claims a resumed run with its first commit: the previous driver can no longer commit. */
  readonly claim?: boolean;
  /** What changed since the run was started, such as files of its plan; reported when the run is resumed. */
  readonly changed?: readonly string[];
  /** Called before each task starts, for the run and its children. A run that may not continue is stopped. */
  readonly mayStart?: (run: RunId) => StopVerdict | Promise<StopVerdict>;
  /** Called for every child run, at any depth; its `finished` resolves when it ends. */
  readonly onRun?: (run: RunId, live: PlanRun) => void;
  readonly trace?: (entry: TraceEntry) => void;
  /** Removes secrets from the output of code and work, before the plan sees it or it is committed (R42). */
  readonly secrets?: Pick<SecretFilter, 'data' | 'text'> | undefined;
  /** Called when a frame of the run or its children begins; the returned function is called when it ends. */
  readonly onFrame?: () => () => void;
  /** A replay: only renders and handlers of the plan are called. The executor does the work of every node. */
  readonly recorded?: RecordedCode;
}

/** A replay's substitute for code that it does not call. */
export interface RecordedCode {
  /** Receives the function that writes what code wrote outside any transaction. */
  attach(push: ActionQueue['push']): void;
  /** All inputs are flushed, and the frame is about to be rendered. Throws if the render threw. */
  beforeRender(): void;
  /** The effect, doing what is recorded of it. */
  effect(call: EffectCall): EffectCall;
}

/** How it ended, or why the engine released it. */
export type RunEnd =
  | { readonly status: 'completed'; readonly output: Json }
  | { readonly status: 'failed'; readonly error: TaskError }
  | { readonly status: 'stopped'; readonly reason: string }
  | { readonly status: 'paused' }
  /** Only a person can unblock it. */
  | { readonly status: 'waiting' }
  | { readonly status: 'stalled'; readonly evidence: StallEvidence }
  /** A commit failed: the run is as last committed, and no longer this engine's. */
  | { readonly status: 'lost'; readonly error: ErrorEnvelope };

/** A running plan. Commands resolve when their effects are committed; `by` names who gave them, for the run's events. They never throw. */
export interface PlanRun {
  /** Resolves once, when nothing of the run is active in this process. */
  readonly finished: Promise<RunEnd>;
  /**
   * Stops starting work, here and in child runs. Running work may finish; with `now` it is asked to end, the attempt does not count, and
   * the run rests after a grace period at the latest.
   */
  pause(by?: string, options?: { readonly now?: boolean | undefined }): Promise<CommandAnswer>;
  /** Cancels running work, and waits for it. */
  stop(reason: string, by?: string): Promise<CommandAnswer>;
  /** Ends the run and its child runs at once. */
  terminate(reason: string, by?: string): Promise<CommandAnswer>;
  /** Repeats a node that failed, was canceled or succeeded. */
  retry(node: string, by?: string, policy?: RetryPolicy): Promise<CommandAnswer>;
  cancel(node: string, by?: string): Promise<CommandAnswer>;
  /** Edits durable state within its schema; the plan is rendered with it. */
  edit(edit: StateEdit): Promise<CommandAnswer>;
  /** Sets new limits; work that waits for them continues. */
  raise(limits: StopConditions, by?: string): Promise<CommandAnswer>;
  /** Restarts the count of an active loop's maximum. */
  reset(loop: string, by?: string): Promise<CommandAnswer>;
  /** A blocked node may be able to continue: its work is called again. */
  wake(node: string): Promise<CommandAnswer>;
  /** There may be outside events: reads signals. */
  input(): Promise<CommandAnswer>;
  /** These tables were changed by others: queries that wait for them run again. */
  invalidate(tables: readonly QueryTable[]): Promise<CommandAnswer>;
  /** Why the plan would ignore a signal. */
  signalFault(name: string, payload: Json): SignalFault | undefined;
  /** The tree of the last frame, with statuses. */
  tree(): TreeNode | undefined;
}

/** A child run, as its parent drives it. */
export interface DrivenRun extends PlanRun {
  /** Pauses it at once: its parent rests. */
  suspend(): void;
  /** Ends it at once without a commit: its parent no longer knows what is committed. */
  abandon(): void;
}

export const DEFAULT_IDLE_MS = 500;
/** For agents, which must undo their current call. */
export const DEFAULT_STOP_GRACE_MS = 5000;
/** For the plan's own code, which has nothing to undo. */
export const TASK_STOP_GRACE_MS = 500;
