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
import type { TraceEntry } from './frame-phase.ts';
import type { Timers } from './frame-scheduler.ts';
import type { SignalFault } from './signals.ts';
import type { StormLimits } from './storm-guard.ts';
import type { TaskExecutor } from './task-executor.ts';

export interface PlanRunOptions {
  readonly plan: AnyPlan;
  readonly run: RunId;
  /** A run that is not there yet: its first commit creates it. Without this, the run is taken up as it is. */
  readonly create?: Omit<NewRun, 'driver' | 'status' | 'phase'>;
  /**
   * The files of the plan. Where the record of a run that is taken up has others, the run goes on with another version of its
   * plan; so do its children (R38).
   */
  readonly source?: RunSource;
  /** Who started it, as its first event says it. */
  readonly startedBy?: string;
  readonly owner: OwnerId;
  /** The owner before, if it died. */
  readonly formerOwner?: FormerOwner | undefined;
  readonly commit: Commit;
  readonly reader: RunReader;
  readonly executor: TaskExecutor;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly ids: IdSource;
  /** For the jitter of retries; never for what a plan sees. */
  readonly rng: Rng;
  readonly minFrameIntervalMs?: number;
  /** How long a plan with effects stays quiet before it counts as done. */
  readonly idleMs?: number;
  /** How long a stop waits for work that was told to end. */
  readonly stopGraceMs?: number;
  readonly storm?: StormLimits;
  readonly strictEffects?: boolean;
  /** Keeps what renders read of volatile state, so that such frames can be verified. */
  readonly keepVolatile?: boolean;
  readonly environment?: string;
  /** The files under the run's working directory, for `ctx.fs`. */
  readonly files?: PlanFiles;
  /** Keeps contents of artifacts that are large, and of files that renders read. */
  readonly blobs?: Pick<Blobs, 'put'>;
  /** The run's own files, if it has any. */
  readonly workspace?: WorkspaceAccess;
  /** Answers `ctx.db.query`. It must refuse to write. */
  readonly query?: (sql: string, params: readonly Json[]) => readonly Json[];
  readonly orphanPolicy?: OrphanPolicy;
  /** The run was created just now, and nothing else was written to it: there is nothing to read of it but its record. */
  readonly isNew?: boolean;
  /** A run that is taken up is claimed with its first commit: whoever drove it before can no longer commit. */
  readonly claim?: boolean;
  /** What is not as it was when the run was started, such as files of its plan; said where the run is taken up. */
  readonly changed?: readonly string[];
  /** Asked before each task starts, of the run and of its children. A run that may not go on is stopped. */
  readonly mayStart?: (run: RunId) => StopVerdict | Promise<StopVerdict>;
  /** Told of every child run, at any depth, while it lives; its `finished` tells when it no longer does. */
  readonly onRun?: (run: RunId, live: PlanRun) => void;
  readonly trace?: (entry: TraceEntry) => void;
  /** Takes secrets out of what comes from code and work, before the plan sees it or it is committed (R42). */
  readonly secrets?: Pick<SecretFilter, 'data' | 'text'> | undefined;
  /** Called as a frame begins, of the run and of its children; what it returns is called as the frame ends. */
  readonly onFrame?: () => () => void;
  /** A replay: only renders and handlers of the plan are called. The executor does the work of every node. */
  readonly recorded?: RecordedCode;
}

/** What a replay has in the place of code that it does not call. */
export interface RecordedCode {
  /** Is given the way to write what code wrote that no transaction surrounded. */
  attach(push: ActionQueue['push']): void;
  /** Everything that was taken in is flushed, and the frame is about to be rendered. Throws where the render threw. */
  beforeRender(): void;
  /** The effect, doing what is recorded of it. */
  effect(call: EffectCall): EffectCall;
}

/** How it ended, or why the engine let go of it. */
export type RunEnd =
  | { readonly status: 'completed'; readonly output: Json }
  | { readonly status: 'failed'; readonly error: TaskError }
  | { readonly status: 'stopped'; readonly reason: string }
  | { readonly status: 'paused' }
  /** Only a person can move it on. */
  | { readonly status: 'waiting' }
  | { readonly status: 'stalled'; readonly evidence: StallEvidence }
  /** A commit failed: the run is as it was committed last, and not this engine's any more. */
  | { readonly status: 'lost'; readonly error: ErrorEnvelope };

/**
 * A run under way. Commands answer when what they did is committed; `by` says who gave them, for the run's events. They
 * never throw.
 */
export interface PlanRun {
  /** Resolves once, when nothing of the run goes on in this process any more. */
  readonly finished: Promise<RunEnd>;
  /**
   * Stops starting work, here and in child runs. What runs may finish; with `now` it is told to end, that attempt counts as
   * none, and the run rests after a grace at the latest.
   */
  pause(by?: string, options?: { readonly now?: boolean | undefined }): Promise<CommandAnswer>;
  /** Cancels what runs, and waits for it. */
  stop(reason: string, by?: string): Promise<CommandAnswer>;
  /** Ends the run at once, and its child runs with it. */
  terminate(reason: string, by?: string): Promise<CommandAnswer>;
  /** Runs a node anew that failed, was canceled or succeeded. */
  retry(node: string, by?: string, policy?: RetryPolicy): Promise<CommandAnswer>;
  cancel(node: string, by?: string): Promise<CommandAnswer>;
  /** Changes durable state, as its schema allows; the plan is rendered with it. */
  edit(edit: StateEdit): Promise<CommandAnswer>;
  /** Gives it other limits; what waits for them goes on. */
  raise(limits: StopConditions, by?: string): Promise<CommandAnswer>;
  /** The maximum of a loop that goes on counts anew. */
  reset(loop: string, by?: string): Promise<CommandAnswer>;
  /** What a blocked node waits for may be there: its work is called again. */
  wake(node: string): Promise<CommandAnswer>;
  /** Events from outside may be there: signals are taken in. */
  input(): Promise<CommandAnswer>;
  /** Others changed these tables: queries that wait for them run again. */
  invalidate(tables: readonly QueryTable[]): Promise<CommandAnswer>;
  /** Why the plan would do nothing with a signal. */
  signalFault(name: string, payload: Json): SignalFault | undefined;
  /** The tree of the last frame, with statuses. */
  tree(): TreeNode | undefined;
}

/** A child run, as its parent drives it. */
export interface DrivenRun extends PlanRun {
  /** Ends it at once as paused: its parent rests. */
  suspend(): void;
  /** Ends it at once without a commit: its parent does not know any more what is committed. */
  abandon(): void;
}

export const DEFAULT_IDLE_MS = 500;
/** For agents, which undo what they were at. */
export const DEFAULT_STOP_GRACE_MS = 5000;
/** For the plan's own code, which has nothing to undo. */
export const TASK_STOP_GRACE_MS = 500;
