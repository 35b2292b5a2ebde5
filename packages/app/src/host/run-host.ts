import type {
  ApprovalId,
  Digest,
  EditOp,
  ErrorEnvelope,
  Json,
  Resolution,
  Result,
  RunChanges,
  RunComparison,
  RunId,
} from '@signalbox/model';
import type { RunEnd } from '@signalbox/plan';
import type { Blobs, Decision, RetryPolicy, RunFeed, RunReader, RunRecord, StopConditions } from '@signalbox/runs';
import type { AgentInbox } from '../agents/agent-inbox.ts';
import type { HostActivity } from '../agents/host-activity.ts';
import type { Providers } from '../agents/providers.ts';
import type { RunBundles } from '../bundles/run-bundles.ts';
import type { ForkRequest } from '../forks/fork-request.ts';
import type { Rollback, RollbackRequest } from '../forks/rollback.ts';
import type { RunInspection } from '../inspection/run-inspection.ts';
import type { CeilingDesk } from '../limits/ceiling-desk.ts';
import type { RecoveryBook } from '../recoveries/recovery-book.ts';
import type { RedactDesk } from '../redact/redact-desk.ts';
import type { RetentionDesk } from '../retention/retention-desk.ts';
import type { SearchDesk } from '../search/search-desk.ts';
import type { StorageDesk } from '../storage/storage-desk.ts';
import type { ChangesAsked } from '../undo/run-changes.ts';
import type { CallCheckpoint, CallUndo } from '../undo/undo-desk.ts';
import type { PersonsWord } from './plan-places.ts';

/** The runs of a data directory, in the process that owns it. Every surface uses it; nothing else starts, changes or ends a run. */
export interface RunHost {
  readonly reader: RunReader;
  readonly feed: RunFeed;
  /** Contents that rows name. */
  readonly blobs: Pick<Blobs, 'get'>;
  /** Retention of runs. */
  readonly retention: RetentionDesk;
  /** Removes later-found secrets from runs. */
  readonly redactions: RedactDesk;
  /** The model providers, and their health. */
  readonly providers: Providers;
  /** What this process does for its runs. */
  readonly activity: HostActivity;
  /** Limits over more than one run. */
  readonly limits: Pick<CeilingDesk, 'read' | 'change'>;
  /** The recoveries of interrupted tool calls. */
  readonly recoveries: Pick<RecoveryBook, 'list' | 'dismiss'>;
  /** Whether the data directory accepts writes. */
  readonly storage: Pick<StorageDesk, 'standing' | 'subscribe'>;
  /** Exports and imports of runs. */
  readonly bundles: RunBundles;
  /** What two runs have in common, and where they part. */
  compare(a: RunId, b: RunId): Promise<Result<RunComparison, ErrorEnvelope>>;
  /** Searches runs, what they hold, and guided notes. */
  readonly search: Pick<SearchDesk, 'find'>;
  /** Inputs of nodes, descriptions of plans, and verification of runs. */
  readonly inspection: Omit<RunInspection, 'close'>;
  /** Resolves when the first commit of the run is durable. */
  start(request: StartRequest): Promise<Result<RunId, ErrorEnvelope>>;
  /** Resumes a run that nothing drives. A driven run is refused with `run/driven`. */
  resume(run: RunId, options?: ResumeRequest): Promise<Result<RunId, ErrorEnvelope>>;
  /** Acts on a run, whether it is driven or not. Resolves when the action is recorded. */
  act(run: RunId, action: RunAction, by: string): Promise<Result<void, ErrorEnvelope>>;
  /** Creates a run that continues from a moment of this one, and starts it unless told otherwise. This one is only read. */
  fork(run: RunId, request: ForkRequest, by: string): Promise<Result<RunId, ErrorEnvelope>>;
  /** The recorded tool calls of a run, in the order in which they ended. */
  checkpoints(run: RunId): Promise<Result<readonly CallCheckpoint[], ErrorEnvelope>>;
  /** What the tool calls of a run changed in files, without those that were undone. */
  changes(run: RunRecord, asked: ChangesAsked): Promise<Result<RunChanges, ErrorEnvelope>>;
  /** Queues a person's text for the next turn of a node's agent, without interrupting it. */
  tell: AgentInbox['tell'];
  /** Undoes the file changes of one tool call, or reports what that would change. */
  undo(run: RunId, call: string, request: UndoRequest, by: string): Promise<Result<CallUndo, ErrorEnvelope>>;
  /** Rolls files, state and transcript back to a tool call together, or reports what that would change. */
  rollback(run: RunId, request: RollbackRequest, by: string): Promise<Result<Rollback, ErrorEnvelope>>;
  /** Answers a decision once, and notifies the waiting run, if it is driven. */
  answer(decision: ApprovalId, answer: Answer, by: string): Promise<Result<Decision, ErrorEnvelope>>;
  /** The end of a run that this process drives; undefined for another. */
  finished(run: RunId): Promise<RunEnd> | undefined;
  /** Runs that are currently driven. */
  driven(): readonly RunId[];
  /**
   * Resolves once no run is driven and no command is under way; from then on every command is refused with `store/ending`, so that nothing
   * is handed to a process that is about to end. `tell` gets the number of driven runs, if there are any.
   */
  endOnceIdle(tell: (count: number) => void): Promise<void>;
  /**
   * The process is about to end: refuses further commands with `store/ending`, pauses driven runs, and waits until they rest. Running work is given up and counts as no attempt, and tool
   * calls are rolled back. A plan that does not answer is waited for only for a grace period: its run is resumed as after a crash.
   */
  rest(by: (run: RunId) => string): Promise<void>;
  /** Pauses driven runs, and releases everything. */
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
  /** The working directory of agents; defaults to the folder of the plan's file. */
  readonly directory?: string | undefined;
  /** If a run was already started with the same key, that run is returned. */
  readonly idempotencyKey?: string | undefined;
  /** The caller's name, as used in events. */
  readonly by?: string | undefined;
}

export interface ResumeRequest {
  /** Continues with the plan's current files, not with the stored ones. */
  readonly useCurrent?: boolean | undefined;
  /** Set for a person at this machine's command line: the current files may be anywhere. */
  readonly anyFile?: boolean | undefined;
  /** Trusts the plan of an imported run from now on; set by a person at the command line. */
  readonly trust?: boolean | undefined;
  /** New limits, if they change. */
  readonly limits?: StopConditions | undefined;
  /** The caller's name, as used in events; without it the run resumes on its own. */
  readonly by?: string | undefined;
}

export interface UndoRequest {
  /** Brings back what the call's rollback overwrote or removed, instead of undoing the call. */
  readonly kept?: boolean | undefined;
  /** With `kept`: only the files that this attempt of the call kept, counted from 1. */
  readonly attempt?: number | undefined;
  /** With `kept`: also brings back what changed since, as a copy beside it. */
  readonly copies?: boolean | undefined;
  /** Also shows what the call changed. */
  readonly diff?: boolean | undefined;
  /** Change nothing. */
  readonly dryRun?: boolean | undefined;
}

export type RunAction =
  /** Nothing new starts; running work may finish. */
  | { readonly kind: 'pause' }
  /** Cancels running work, and waits for it. */
  | { readonly kind: 'stop'; readonly reason: string }
  /** Ends the run at once, without waiting. */
  | { readonly kind: 'terminate'; readonly reason: string }
  /** Repeats a node, optionally with a new retry policy. */
  | { readonly kind: 'retry'; readonly node: string; readonly policy?: RetryPolicy | undefined }
  | { readonly kind: 'cancel'; readonly node: string }
  /** Restarts the count of an active loop's maximum. */
  | { readonly kind: 'reset'; readonly node: string }
  /**
   * Edits durable state within the plan's schema; without a value the key is removed. An `op` applies to the value at the time of the
   * commit.
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
