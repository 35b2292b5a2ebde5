import type { ApprovalId, Digest, EditOp, ErrorEnvelope, Json, Result, RunId } from '@signalbox/model';
import type { RunEnd } from '@signalbox/plan';
import type { Blobs, Decision, Resolution, RetryPolicy, RunFeed, RunReader, StopConditions } from '@signalbox/runs';
import type { HostActivity } from '../agents/host-activity.ts';
import type { Providers } from '../agents/providers.ts';
import type { RunBundles } from '../bundles/run-bundles.ts';
import type { ForkRequest } from '../forks/fork-request.ts';
import type { Rollback, RollbackRequest } from '../forks/rollback.ts';
import type { RunInspection } from '../inspection/run-inspection.ts';
import type { RecoveryBook } from '../recoveries/recovery-book.ts';
import type { RedactDesk } from '../redact/redact-desk.ts';
import type { RetentionDesk } from '../retention/retention-desk.ts';
import type { StorageDesk } from '../storage/storage-desk.ts';
import type { CallCheckpoint, CallUndo } from '../undo/undo-desk.ts';
import type { PersonsWord } from './plan-places.ts';

/**
 * The runs of a data directory, in the process that owns it. Every surface asks it, and nothing else starts, moves or ends
 * a run.
 */
export interface RunHost {
  readonly reader: RunReader;
  readonly feed: RunFeed;
  /** Contents that rows name. */
  readonly blobs: Pick<Blobs, 'get'>;
  /** How long runs stay. */
  readonly retention: RetentionDesk;
  /** Takes secrets out of runs that were found later. */
  readonly redactions: RedactDesk;
  /** The providers of models, and how they do. */
  readonly providers: Providers;
  /** What this process does for its runs. */
  readonly activity: HostActivity;
  /** What recoveries did about tool calls that were cut off. */
  readonly recoveries: Pick<RecoveryBook, 'list' | 'dismiss'>;
  /** Whether the data directory takes writes. */
  readonly storage: Pick<StorageDesk, 'standing' | 'subscribe'>;
  /** Runs as files. */
  readonly bundles: RunBundles;
  /** What nodes were given, what plans take, and whether runs are as they were written. */
  readonly inspection: Omit<RunInspection, 'close'>;
  /** Answers when the first commit of the run is durable. */
  start(request: StartRequest): Promise<Result<RunId, ErrorEnvelope>>;
  /** Goes on with a run that nothing drives. One that is driven already is told so: `run/driven`. */
  resume(run: RunId, options?: ResumeRequest): Promise<Result<RunId, ErrorEnvelope>>;
  /** Does something to a run, whether it is driven or not. Answers when it is recorded. */
  act(run: RunId, action: RunAction, by: string): Promise<Result<void, ErrorEnvelope>>;
  /** Makes a run that goes on from a moment of this one, and takes it up unless told otherwise. This one is only read. */
  fork(run: RunId, request: ForkRequest, by: string): Promise<Result<RunId, ErrorEnvelope>>;
  /** The tool calls of a run that are recorded, in the order in which they ended. */
  checkpoints(run: RunId): Promise<Result<readonly CallCheckpoint[], ErrorEnvelope>>;
  /** Undoes what one tool call did to files, or says what that would change. */
  undo(run: RunId, call: string, request: UndoRequest, by: string): Promise<Result<CallUndo, ErrorEnvelope>>;
  /** Brings files, state and transcript back to a tool call together, or says what that would change. */
  rollback(run: RunId, request: RollbackRequest, by: string): Promise<Result<Rollback, ErrorEnvelope>>;
  /** Answers a decision once, and tells the run that waits for it, if it is driven. */
  answer(decision: ApprovalId, answer: Answer, by: string): Promise<Result<Decision, ErrorEnvelope>>;
  /** How a run ended that this process drives; undefined for another. */
  finished(run: RunId): Promise<RunEnd> | undefined;
  /** Runs that are driven now. */
  driven(): readonly RunId[];
  /**
   * The process is about to end: pauses what is driven, and waits until it rests. Work under way is given up and counts as no
   * attempt, and tool calls are rolled back. A plan that does not answer is waited for no longer than a grace: its run is
   * taken up as after a crash.
   */
  rest(by: (run: RunId) => string): Promise<void>;
  /** Pauses what is driven, and lets go of everything. */
  close(): Promise<void>;
}

export interface StartRequest extends PersonsWord {
  /** The plan's file. */
  readonly file: string;
  readonly input: Json;
  readonly name?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly correlationId?: string | undefined;
  readonly limits?: StopConditions | undefined;
  /** Where agents work; the folder of the plan's file unless told otherwise. */
  readonly directory?: string | undefined;
  /** A run that was started with the same key before is answered instead of a new one. */
  readonly idempotencyKey?: string | undefined;
  /** Who asks, as the events say it. */
  readonly by?: string | undefined;
}

export interface ResumeRequest {
  /** Goes on with the plan's files as they are now, not as the run kept them. */
  readonly useCurrent?: boolean | undefined;
  /** A person at the command line of this machine asks: the files that are used now may lie anywhere. */
  readonly anyFile?: boolean | undefined;
  /** The plan of a run that was imported is trusted from now on; a person at the command line says so. */
  readonly trust?: boolean | undefined;
  /** Limits to go on with, where they are others than before. */
  readonly limits?: StopConditions | undefined;
  /** Who asks, as the events say it; without it the run goes on by itself. */
  readonly by?: string | undefined;
}

export interface UndoRequest {
  /** Bring back what the rollback of the call overwrote or removed, instead of undoing the call. */
  readonly kept?: boolean | undefined;
  /** With `kept`: only what this attempt of the call kept, counted from 1. */
  readonly attempt?: number | undefined;
  /** With `kept`: what changed since is brought back too, as a copy beside it. */
  readonly copies?: boolean | undefined;
  /** Nothing is changed. */
  readonly dryRun?: boolean | undefined;
}

export type RunAction =
  /** Nothing new starts; what runs may finish. */
  | { readonly kind: 'pause' }
  /** Cancels what runs, and waits for it. */
  | { readonly kind: 'stop'; readonly reason: string }
  /** Ends the run at once, without waiting for anything. */
  | { readonly kind: 'terminate'; readonly reason: string }
  /** Runs a node anew, by other rules for its retries where they are given. */
  | { readonly kind: 'retry'; readonly node: string; readonly policy?: RetryPolicy | undefined }
  | { readonly kind: 'cancel'; readonly node: string }
  /** The maximum of a loop that goes on counts anew. */
  | { readonly kind: 'reset'; readonly node: string }
  /**
   * Changes durable state, as the plan's schema allows; without a value the key is taken away. An `op` is applied to what is
   * there when the change is committed.
   */
  | {
      readonly kind: 'edit';
      readonly key: string;
      readonly op?: EditOp | undefined;
      readonly value?: Json | undefined;
      readonly reason: string;
    }
  | { readonly kind: 'signal'; readonly name: string; readonly payload: Json };

export interface Answer {
  readonly resolution: Resolution;
  /** The digest of what was shown; an answer to something else is void. */
  readonly proposalHash?: Digest | undefined;
}
