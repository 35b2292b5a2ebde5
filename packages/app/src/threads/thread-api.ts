import type { ErrorEnvelope, Json, Result, RunId } from '@signalbox/model';
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
  RetryPolicy,
  RunSource,
  RunWorkspace,
  StopConditions,
  StopVerdict,
} from '@signalbox/runs';
import type { ReplayJob, RunReplay } from '../replay/replay-job.ts';
import type { RunReport, VerifyJob } from '../run-journal/verify-run.ts';
import type { SharedSecrets } from '../secrets/open-secrets.ts';

/** What a thread can be asked. A plan's code is loaded and called in threads, and nowhere else. */
export interface ThreadCalls {
  begin(beginning: ThreadBeginning): void;
  /** Loads a plan, and says whether it takes the input. */
  load(source: PlanSource, input: Json): Promise<Result<PlanFacts, ErrorEnvelope>>;
  /** What can be said of a plan without a run of it. */
  describe(source: PlanSource): Promise<Result<PlanOutline, ErrorEnvelope>>;
  /** What the first frame of a plan would show and do. Nothing is executed. */
  preview(source: PlanSource, input: Json): Promise<Result<PlanPreview, ErrorEnvelope>>;
  /** Why a value does not fit a key of a plan's state; undefined where it does. */
  stateFault(
    source: PlanSource,
    key: string,
    value: Json | undefined,
  ): Promise<Result<string | undefined, ErrorEnvelope>>;
  /**
   * Why the plan of a run does nothing with a signal: the one that is driven here, or else the one that is given. `not-driven`:
   * neither is there, as when the run has just come to rest.
   */
  signalFault(
    run: RunId,
    source: PlanSource | undefined,
    name: string,
    payload: Json,
  ): Promise<Result<SignalFault | 'not-driven' | undefined, ErrorEnvelope>>;
  /** Makes the frames of a recorded run again. */
  replay(job: ReplayJob): Promise<Result<readonly RunReplay[], ErrorEnvelope>>;
  /** Checks the record of a run. */
  verify(job: VerifyJob): Promise<Result<RunReport, ErrorEnvelope>>;
  /** Drives a run until it ends or cannot go on. The plan is loaded if it is not yet. */
  drive(job: DriveJob): Promise<DriveEnd>;
  /** Answers when what the command did is committed. */
  command(run: RunId, command: RunCommand): Promise<CommandAnswer>;
  /** Work that was asked of the host tells how it goes. */
  progress(execution: string, progress: Parameters<TaskRequest['progress']>[0]): void;
  /** Whether the run may start more work. */
  limit(run: RunId, verdict: StopVerdict): void;
  /** The variables that the code of its plan sees from now on. */
  environment(variables: Readonly<Record<string, string>>): void;
  ping(): void;
}

/** What a thread asks of the host: everything that is durable, and the work of agents and people. */
export interface HostCalls {
  /** What `commitText` makes. */
  commit(text: string): ReturnType<Commit['commit']>;
  read(method: ReadMethod, args: readonly unknown[]): Promise<unknown>;
  execute(execution: string, request: RemoteRequest): Promise<TaskOutcome>;
  allow(request: RemoteRequest, doubts: StartDoubts): Promise<TaskOutcome | undefined>;
  timeOver(run: RunId): Promise<void>;
  abort(execution: string): void;
  putBlobs(run: RunId, contents: readonly Uint8Array[]): ReturnType<Blobs['put']>;
  /** What work does with the run's own files. */
  workspace(run: RunId, request: WorkspaceRequest): Promise<Result<string, ErrorEnvelope>>;
  /** A sub-plan's run is driven in the same thread, until it is `driven: false`. */
  subRun(run: RunId, parent: RunId, driven: boolean): void;
  trace(run: RunId, entry: TraceEntry): void;
  /** How long frames took that no commit told, in milliseconds. */
  framed(frames: readonly number[]): void;
}

export type WorkspaceRequest =
  | { readonly kind: 'snapshot' }
  | { readonly kind: 'rollback'; readonly ref: string }
  | { readonly kind: 'diff'; readonly from: string; readonly to?: string | undefined };

/** What a thread is started with. */
export interface ThreadData {
  readonly memoryMb: number;
  /** Where compiled code of ours may be kept. */
  readonly codeDirectory?: string | undefined;
  /** Keeps our code as it is compiled by now. The built entry gives it. */
  readonly keepCode?: () => void;
}

/** What a thread is told before anything is asked of it. */
interface ThreadBeginning {
  /** Where compiled modules of plans are kept. */
  readonly cacheDirectory: string | undefined;
  /** How it recognises secrets. Without this, by their shape alone. */
  readonly secrets: SharedSecrets | undefined;
}

/** The host, as one thread has it. */
export interface ThreadHost {
  readonly calls: HostCalls;
  /** The thread is gone: work that it waits for ends. */
  lost(): void;
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

/** Where a plan comes from: its file as it is now, or the files that a run kept. */
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
  /** Its runs work on files of their own. */
  readonly workspace: boolean;
}

export interface DriveJob {
  readonly run: RunId;
  readonly source: PlanSource;
  /** The same files as the run's record names them. */
  readonly kept?: RunSource;
  readonly owner: OwnerId;
  readonly formerOwner?: FormerOwner | undefined;
  readonly create?: PlanRunOptions['create'];
  readonly isNew?: boolean;
  readonly startedBy?: string;
  /** What is not as it was when the run was driven last. */
  readonly changed: readonly string[];
  readonly limit: StopVerdict;
  readonly trace: boolean;
  /** What `ctx.fs` reaches, and what of it nobody may enter. */
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
  /** What a node waits for may be there. */
  | { readonly kind: 'wake'; readonly node: string }
  /** Signals may have come. */
  | { readonly kind: 'input' };

/** A request without the author's code, which stays in its thread. */
export type RemoteRequest = Pick<TaskRequest, 'run' | 'task' | 'iteration' | 'totalIteration' | 'attempt'> & {
  readonly node: Pick<TaskRequest['node'], 'kind' | 'id' | 'data' | 'source'>;
};
