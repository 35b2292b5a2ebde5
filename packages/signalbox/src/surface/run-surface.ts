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
} from '@signalbox/app/runs';

/**
 * What a command can do with runs, whether this process owns the data directory or another one does. A command does not
 * know which.
 */
export interface RunSurface {
  /** Whether this process is the owner. */
  readonly isOwner: boolean;
  /** What this start did about tool calls that were cut off. */
  readonly recovered: readonly RecoveryNote[];
  /** Whether the data directory takes writes, where this process is the owner. */
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
  /** Marks a run as one that stays, or takes the mark away. */
  keep(run: RunId, isKept: boolean): Promise<Result<void, ErrorEnvelope>>;
  /** Takes a secret out of a run and of those that come from it. */
  redact(run: RunId, request: RedactionRequest): Promise<Result<RedactionReport, ErrorEnvelope>>;
  /** Takes in a run that was exported, as a new one. */
  importRun(request: ImportRequest): Promise<Result<ImportReport, ErrorEnvelope>>;
  /** Takes away what the policy lets go. */
  collect(request: Omit<CollectRequest, 'by'>): Promise<Result<CollectReport, ErrorEnvelope>>;
  /**
   * Calls back whenever something of the run is committed, with what agents said and, where they came along, the events of the
   * commit; without those they are to be read. The returned function ends it.
   */
  watch(run: RunId, bell: (said: readonly Said[], events?: readonly StoredEvent[]) => void): () => void;
  /**
   * The program is about to end: pauses the run. The owner rests everything it drives, and rolls back calls under way;
   * another process is asked to pause this run, and waited for no longer than that takes.
   */
  interrupt(run: RunId): Promise<void>;
  /** Resolves when nobody drives the run any more. */
  rested(run: RunId): Promise<void>;
  /** Resolves when nothing that other processes asked for goes on here. Tells how many there are, if any. */
  othersRested(tell: (count: number) => void): Promise<void>;
  /** Lets other processes talk to this one, where it is the owner; then it answers where. */
  listen(): Promise<Result<string | undefined, ErrorEnvelope>>;
  close(): Promise<void>;
}

/** What an agent said while it works. */
export interface Said {
  readonly task: string;
  readonly kind: string;
  readonly payload: unknown;
}

/** Who does what this program does, in the events of a run. */
export const BY = 'cli';
