import type {
  ApprovalId,
  ArtifactId,
  ArtifactKind,
  Json,
  RunId,
  RunStatus,
  TaskStatus,
  Timestamp,
} from '@signalbox/model';
import type { ArtifactRecord } from './artifacts/artifact-record.ts';
import type { Decision } from './decisions/decision.ts';
import type { StoredEvent } from './events/stored-event.ts';
import type { Maybe } from './frames/change.ts';
import type { Frame } from './frames/frame.ts';
import type { IntervalSpace } from './frames/interval.ts';
import type { Transition } from './frames/transition.ts';
import type { NodeKey, OwnerId, TaskId } from './ids.ts';
import type { LogRecord } from './log/record.ts';
import type { RunRecord } from './run/run-record.ts';
import type { StreamChunk } from './stream/stream-chunk.ts';
import type { Task } from './tasks/task.ts';
import type { Spending, SpendingFilter } from './usage/spending.ts';
import type { UsageTotal } from './usage/usage.ts';

/** Reads what is committed. Every list comes in pages or is bounded by what is live. */
export interface RunReader {
  run(run: RunId): Promise<RunRecord | undefined>;
  /** Newest first. */
  runs(filter?: RunFilter): Promise<Page<RunRecord, RunId>>;
  /** Runs that this one started as sub-plans or that were forked from it, oldest first. */
  children(run: RunId): Promise<readonly RunRecord[]>;

  frame(run: RunId, index: number): Promise<Frame | undefined>;
  /** From `from` on, oldest first. */
  frames(run: RunId, from: number, limit: number): Promise<readonly Frame[]>;
  /** Everything that holds in a frame, by key. */
  at(run: RunId, space: IntervalSpace, frame: number): Promise<ReadonlyMap<string, Json>>;
  valueAt(run: RunId, space: IntervalSpace, key: string, frame: number): Promise<Maybe>;
  transitions(run: RunId, filter?: TransitionFilter): Promise<Page<TransitionView, TransitionPlace>>;

  /** The log of a run from record `from` on, in order. */
  records(run: RunId, from: number, limit: number): Promise<readonly LogRecord[]>;
  /** The events that its records tell, from `from` on, in order. */
  events(run: RunId, from: number, limit: number): Promise<readonly StoredEvent[]>;

  task(run: RunId, task: TaskId): Promise<Task | undefined>;
  /** In the order they were made. */
  tasks(run: RunId, filter?: TaskFilter): Promise<readonly Task[]>;
  /** Tasks under way whose lease is held by none of the owners that are alive. */
  orphans(alive: readonly OwnerId[]): Promise<readonly Orphan[]>;

  /** What an agent said during a task, from `from` on, in order. */
  stream(run: RunId, task: TaskId, from: number, limit: number): Promise<readonly StreamChunk[]>;
  /** The index of the last chunk of kind `message` that comes before an index in the stream of a task. */
  messageBefore(run: RunId, task: TaskId, index: number): Promise<number | undefined>;

  decision(decision: ApprovalId): Promise<DecisionOfRun | undefined>;
  /** Oldest first. */
  decisions(filter?: DecisionFilter): Promise<readonly DecisionOfRun[]>;
  /** In the order they were made. */
  artifacts(run: RunId, filter?: ArtifactFilter): Promise<readonly ArtifactRecord[]>;
  artifact(artifact: ArtifactId): Promise<ArtifactOfRun | undefined>;
  /** Over all runs, newest first, without contents. */
  artifactList(filter?: ArtifactListFilter): Promise<Page<ArtifactOfRun, ArtifactId>>;
  /** What a run and all the sub-plans below it spent; a fork is a tree of its own. */
  usageOfTree(run: RunId): Promise<UsageTotal>;
  /** What calls spent, by day, model and where the agents of their run work; the latest day first. */
  spending(filter?: SpendingFilter): Promise<readonly Spending[]>;
}

export interface Page<Item, Next> {
  readonly items: readonly Item[];
  /** Where the next page begins; absent on the last. */
  readonly next?: Next;
}

export interface RunFilter {
  readonly status?: readonly RunStatus[];
  readonly name?: string;
  readonly tag?: string;
  readonly correlationId?: string;
  readonly idempotencyKey?: string;
  /** Made from this moment on, and before that one. */
  readonly since?: Timestamp;
  readonly until?: Timestamp;
  /** The plan's file. */
  readonly entry?: string;
  /** Where its agents work. */
  readonly directory?: string;
  readonly after?: RunId;
  readonly limit?: number;
}

export interface TransitionPlace {
  readonly frame: number;
  readonly index: number;
}

export interface TransitionFilter {
  readonly key?: string;
  readonly from?: TransitionPlace;
  readonly limit?: number;
}

/** A transition with both values; undefined where the key was not there. */
export interface TransitionView extends Omit<Transition, 'change'> {
  readonly old: Maybe;
  readonly new: Maybe;
}

export interface TaskFilter {
  readonly status?: readonly TaskStatus[];
  readonly node?: NodeKey;
  readonly effects?: readonly Task['effects'][];
  readonly after?: TaskId;
  /** All of them unless it is given. */
  readonly limit?: number;
}

export interface Orphan {
  readonly run: RunId;
  readonly task: Task;
}

export interface DecisionOfRun {
  readonly run: RunId;
  readonly decision: Decision;
}

export interface DecisionFilter {
  readonly run?: RunId;
  readonly status?: readonly Decision['status'][];
  readonly after?: ApprovalId;
  /** All of them unless it is given. */
  readonly limit?: number;
}

export interface ArtifactFilter {
  readonly node?: NodeKey;
  readonly key?: string;
}

export interface ArtifactOfRun {
  readonly run: RunId;
  readonly artifact: ArtifactRecord;
}

export interface ArtifactListFilter {
  readonly run?: RunId;
  readonly kind?: ArtifactKind;
  readonly key?: string;
  /** Of keyed artifacts only the last version, unless all are asked for. */
  readonly versions?: 'last' | 'all';
  readonly after?: ArtifactId;
  readonly limit?: number;
}

/** Items on a page unless the caller asks for another number. */
export const DEFAULT_PAGE = 100;

/** Told after a commit, in the order of commits. */
export interface RunFeed {
  /** Of one run, or of all. Ends when the returned function is called. A listener does not throw. */
  subscribe(run: RunId | 'all', listener: (notice: CommitNotice) => void): () => void;
}

export interface CommitNotice {
  readonly run: RunId;
  readonly version: number;
  /** The `seq` of its first event; without events, of the next one. */
  readonly seq: number;
  /** Whether it opened a decision. */
  readonly asks: boolean;
  /** Made when they are first read. */
  readonly events: readonly StoredEvent[];
  readonly stream: readonly StreamChunk[];
}
