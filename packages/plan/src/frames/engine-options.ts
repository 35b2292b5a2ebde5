import type { Clock, ErrorEnvelope, IdSource, Json, Rng, RunId, StallEvidence } from '@signalbox/model';
import type { Commit, NewRun, OrphanPolicy, OwnerId, RunReader, TaskError } from '@signalbox/runs';
import type { QueryTable } from '../context.ts';
import type { TreeNode } from '../nodes/tree-json.ts';
import type { AnyPlan } from '../plan-definition.ts';
import type { Timers } from './frame-scheduler.ts';
import type { StormLimits } from './storm-guard.ts';
import type { TaskExecutor } from './task-executor.ts';

export interface PlanRunOptions {
  readonly plan: AnyPlan;
  readonly run: RunId;
  /** A run that is not there yet: its first commit creates it. Without this, the run is taken up as it is. */
  readonly create?: Omit<NewRun, 'driver' | 'status' | 'phase'>;
  readonly owner: OwnerId;
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
  /** Answers `ctx.db.query`. It must refuse to write. */
  readonly query?: (sql: string, params: readonly Json[]) => readonly Json[];
  readonly orphanPolicy?: OrphanPolicy;
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

export interface PlanRun {
  /** Resolves once, when nothing of the run goes on in this process any more. */
  readonly finished: Promise<RunEnd>;
  /** Stops starting work; what runs may finish. */
  pause(): void;
  /** Cancels what runs. */
  stop(reason: string): void;
  /** Runs a node anew that failed, was canceled or succeeded. */
  retry(node: string): void;
  cancel(node: string): void;
  /** What a blocked node waits for may be there: its work is called again. */
  wake(node: string): void;
  /** Others changed these tables: queries that wait for them run again. */
  invalidate(tables: readonly QueryTable[]): void;
  /** The tree of the last frame, with statuses. */
  tree(): TreeNode | undefined;
}

export const DEFAULT_IDLE_MS = 500;
export const DEFAULT_STOP_GRACE_MS = 5000;
