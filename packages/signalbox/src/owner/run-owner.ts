import type {
  Answer,
  ApprovalId,
  CallCheckpoint,
  CallUndo,
  CollectReport,
  CollectRequest,
  ErrorEnvelope,
  ForkRequest,
  ImportReport,
  ImportRequest,
  RecoveryNote,
  RedactionReport,
  RedactionRequest,
  Result,
  ResumeRequest,
  Rollback,
  RollbackRequest,
  RunAction,
  RunHost,
  RunId,
  RunReader,
  StartRequest,
  StoredEvent,
  UndoRequest,
} from '@signalbox/app/host';

/** The owner of a data directory, which is this process or another one: a command does not know which. */
export interface RunOwner {
  /** Whether this process is the owner. */
  readonly isLocal: boolean;
  /** How this start recovered interrupted tool calls. */
  readonly recovered: readonly RecoveryNote[];
  /** Whether the data directory accepts writes, if this process is the owner. */
  readonly storage?: RunHost['storage'] | undefined;
  readonly reader: RunReader;
  start(request: StartRequest): Promise<Result<RunId, ErrorEnvelope>>;
  resume(run: RunId, request: ResumeRequest): Promise<Result<RunId, ErrorEnvelope>>;
  act(run: RunId, action: RunAction): Promise<Result<void, ErrorEnvelope>>;
  fork(run: RunId, request: ForkRequest): Promise<Result<RunId, ErrorEnvelope>>;
  checkpoints(run: RunId): Promise<Result<readonly CallCheckpoint[], ErrorEnvelope>>;
  undo(run: RunId, call: string, request: UndoRequest): Promise<Result<CallUndo, ErrorEnvelope>>;
  rollback(run: RunId, request: RollbackRequest): Promise<Result<Rollback, ErrorEnvelope>>;
  answer(decision: ApprovalId, answer: Answer): Promise<Result<void, ErrorEnvelope>>;
  /** Marks a run as kept, or removes the mark. */
  keep(run: RunId, isKept: boolean): Promise<Result<void, ErrorEnvelope>>;
  /** Removes a secret from a run, its sub-plans and its forks. */
  redact(run: RunId, request: RedactionRequest): Promise<Result<RedactionReport, ErrorEnvelope>>;
  /** Imports an exported run as a new one. */
  importRun(request: ImportRequest): Promise<Result<ImportReport, ErrorEnvelope>>;
  /** Removes data that has expired under the retention policy. */
  collect(request: Omit<CollectRequest, 'by'>): Promise<Result<CollectReport, ErrorEnvelope>>;
  /**
   * Calls back on every commit of the run, with agents' output and, if available, the events of the commit; otherwise the
   * caller reads them. The returned function unsubscribes.
   */
  watch(run: RunId, bell: (said: readonly Said[], events?: readonly StoredEvent[]) => void): () => void;
  /**
   * Pauses the run because the program is about to end. An owner pauses everything it drives and rolls back calls under way;
   * otherwise the owner is asked to pause this run, and waited for until it has.
   */
  interrupt(run: RunId): Promise<void>;
  /** Resolves when nothing drives the run any more. */
  rested(run: RunId): Promise<unknown>;
  /** Resolves when no run started by other processes is active here; no more are taken then. Reports their number, if any. */
  othersRested(tell: (count: number) => void): Promise<void>;
  /** If this process is the owner, lets other processes connect and returns the address. */
  listen(): Promise<Result<string | undefined, ErrorEnvelope>>;
  close(): Promise<void>;
}

/** An agent's output while it works. */
export interface Said {
  readonly task: string;
  readonly kind: string;
  readonly payload: unknown;
}

/** The actor recorded in events for this program's actions. */
export const BY = 'cli';
