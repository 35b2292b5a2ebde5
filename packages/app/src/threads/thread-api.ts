import type { ErrorEnvelope, Json, Result, RunId, ThrownPlace } from '@signalbox/model';
import type {
  CommandAnswer,
  ImportClosure,
  PlanOutline,
  PlanPreview,
  PlanRunOptions,
  RunEnd,
  SignalFault,
  StartDoubts,
  StateEdit,
  TaskOutcome,
  TaskRequest,
  TraceEntry,
} from '@signalbox/plan';
import type {
  Blobs,
  Commit,
  FormerOwner,
  OwnerId,
  OwnToolAnswer,
  OwnToolCall,
  OwnToolOperation,
  OwnToolReply,
  RetryPolicy,
  RunSource,
  RunWorkspace,
  StopConditions,
  StopVerdict,
} from '@signalbox/runs';
import type { ReplayJob, RunReplay } from '../replay/replay-job.ts';
import type { RunReport, VerifyJob } from '../run-journal/verify-run.ts';
import type { SharedSecrets } from '../secrets/open-secrets.ts';

/** The requests to a thread. A plan's code is loaded and called only in threads. */
export interface ThreadCalls {
  begin(beginning: ThreadBeginning): void;
  /** Loads a plan, and validates the input. */
  load(source: PlanSource, input: Json): Promise<Result<PlanFacts, ErrorEnvelope>>;
  /** The facts about a plan without a run. */
  describe(source: PlanSource): Promise<Result<PlanOutline, ErrorEnvelope>>;
  /** What the first frame of a plan would show and do. Nothing is executed. */
  preview(source: PlanSource, input: Json): Promise<Result<PlanPreview, ErrorEnvelope>>;
  /** Why a value does not fit a key of a plan's state; undefined if it does. */
  stateFault(
    source: PlanSource,
    key: string,
    value: Json | undefined,
  ): Promise<Result<string | undefined, ErrorEnvelope>>;
  /**
   * Why the plan of a run ignores a signal: the one driven here, or else the given one. `not-driven`: there is neither, as when the run has
   * just come to rest.
   */
  signalFault(
    run: RunId,
    source: PlanSource | undefined,
    name: string,
    payload: Json,
  ): Promise<Result<SignalFault | 'not-driven' | undefined, ErrorEnvelope>>;
  /** Replays a recorded run. */
  replay(job: ReplayJob): Promise<Result<readonly RunReplay[], ErrorEnvelope>>;
  /** Checks the record of a run. */
  verify(job: VerifyJob): Promise<Result<RunReport, ErrorEnvelope>>;
  /** The run is about to be driven here: reads its values from the database. */
  readValues(run: RunId, database: string): void;
  /** Drives a run until it ends or cannot continue. Loads the plan if needed. */
  drive(job: DriveJob): Promise<DriveEnd>;
  /** Resolves when the command's effects are committed. */
  command(run: RunId, command: RunCommand): Promise<CommandAnswer>;
  /** Reports progress of the host's work. */
  progress(execution: string, progress: Parameters<TaskRequest['progress']>[0]): void;
  /** Calls a tool that the plan brings along, for work that this thread asked the host for. */
  callTool(execution: string, call: OwnToolCall): Promise<OwnToolReply>;
  abortTool(execution: string, call: string): void;
  /** Whether the run may start more work. */
  limit(run: RunId, verdict: StopVerdict): void;
  /** The variables that its plan's code sees from now on. */
  environment(variables: Readonly<Record<string, string>>): void;
  ping(): void;
}

/** A thread's requests to the host: everything durable, and the work of agents and people. */
export interface HostCalls {
  /** The result of `commitText`. */
  commit(text: string): ReturnType<Commit['commit']>;
  read(method: ReadMethod, args: readonly unknown[]): Promise<unknown>;
  execute(execution: string, request: RemoteRequest): Promise<TaskOutcome>;
  allow(request: RemoteRequest, doubts: StartDoubts): Promise<TaskOutcome | undefined>;
  timeOver(run: RunId): Promise<void>;
  abort(execution: string): void;
  /** A file or command of a tool's call that is under way. */
  operate(execution: string, call: string, operation: OwnToolOperation): Promise<OwnToolAnswer>;
  putBlobs(run: RunId, contents: readonly Uint8Array[]): ReturnType<Blobs['put']>;
  /** Operations on the run's workspace. */
  workspace(run: RunId, request: WorkspaceRequest): Promise<Result<string, ErrorEnvelope>>;
  /** A sub-plan's run is driven in the same thread, until it is `driven: false`. */
  subRun(run: RunId, parent: RunId, driven: boolean): void;
  trace(run: RunId, entry: TraceEntry): void;
  /** The code of a plan is about to end the thread, at this place. */
  dying(place: ThrownPlace): void;
  /** Durations of frames without a commit, in milliseconds. */
  framed(frames: readonly number[]): void;
}

export type WorkspaceRequest =
  | { readonly kind: 'snapshot' }
  | { readonly kind: 'rollback'; readonly ref: string }
  | { readonly kind: 'diff'; readonly from: string; readonly to?: string | undefined };

/** The start data of a thread. */
export interface ThreadData {
  readonly memoryMb: number;
  /** Where our compiled code may be cached. */
  readonly codeDirectory?: string | undefined;
  /** Caches our compiled code. Supplied by the built entry. */
  readonly keepCode?: () => void;
}

/** Sent to a thread before any request. */
interface ThreadBeginning {
  /** Where compiled modules of plans are cached. */
  readonly cacheDirectory: string | undefined;
  /** How it recognises secrets. Without this, by their shape alone. */
  readonly secrets: SharedSecrets | undefined;
}

/** The host, as one thread sees it. */
export interface ThreadHost {
  readonly calls: Omit<HostCalls, 'dying'>;
  /** The thread is gone: ends the work that it waits for. Resolves when its commits are stored or refused. */
  lost(): Promise<void>;
}

export type ReadMethod =
  | 'run'
  | 'children'
  | 'at'
  | 'transitions'
  | 'events'
  | 'tasks'
  | 'decisions'
  | 'artifact'
  | 'artifactList';

/** The source of a plan: its current file, or the stored files of a run. */
export type PlanSource =
  | {
      readonly kind: 'file';
      readonly file: string /** Its links are resolved, and that path is allowed. */;
      readonly isPlace?: boolean;
    }
  | { readonly kind: 'kept'; readonly root: string; readonly entry: string; readonly files: readonly KeptFile[] };

interface KeptFile {
  readonly path: string;
  readonly contents: Uint8Array;
}

export interface PlanFacts {
  readonly name: string;
  readonly closure: ImportClosure;
  /** Whether its runs have their own workspace. */
  readonly workspace: boolean;
}

export interface DriveJob {
  readonly run: RunId;
  readonly source: PlanSource;
  /** The same files as named in the run's record. */
  readonly kept?: RunSource;
  readonly owner: OwnerId;
  readonly formerOwner?: FormerOwner | undefined;
  readonly create?: PlanRunOptions['create'];
  readonly isNew?: boolean;
  readonly startedBy?: string;
  /** What changed since the run was last driven. */
  readonly changed: readonly string[];
  readonly limit: StopVerdict;
  readonly trace: boolean;
  /** The root of `ctx.fs`, and the places in it that nobody may enter. */
  readonly directory: string;
  readonly refused: readonly string[];
  readonly workspace?: RunWorkspace;
  /** The database that `ctx.db.query` reads. */
  readonly database: string;
}

export type DriveEnd = RunEnd | { readonly status: 'not-loaded'; readonly error: ErrorEnvelope };

export type RunCommand =
  | { readonly kind: 'pause'; readonly by: string; readonly now?: boolean | undefined }
  | { readonly kind: 'stop' | 'terminate'; readonly reason: string; readonly by: string }
  | { readonly kind: 'retry'; readonly node: string; readonly by: string; readonly policy?: RetryPolicy | undefined }
  | { readonly kind: 'cancel' | 'reset'; readonly node: string; readonly by: string }
  | ({ readonly kind: 'edit' } & StateEdit)
  | { readonly kind: 'raise'; readonly limits: StopConditions; readonly by: string }
  /** A node may be able to continue. */
  | { readonly kind: 'wake'; readonly node: string }
  /** There may be new signals. */
  | { readonly kind: 'input' };

/** A request without the author's code, which stays in its thread. */
export type RemoteRequest = Pick<TaskRequest, 'run' | 'task' | 'iteration' | 'totalIteration' | 'attempt'> & {
  readonly node: Pick<TaskRequest['node'], 'kind' | 'id' | 'data' | 'source'>;
};
