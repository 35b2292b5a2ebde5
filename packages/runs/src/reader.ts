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
import type { RunSpent, Spending, SpendingFilter } from './usage/spending.ts';
import type { UsageTotal } from './usage/usage.ts';

/** Reads committed data. Every list is paged or bounded by what is live. */
export interface RunReader {
  run(run: RunId): Promise<RunRecord | undefined>;
  /** Newest first. */
  runs(filter?: RunFilter): Promise<Page<RunRecord, RunId>>;
  /** Sub-plans and forks of this run, oldest first. */
  children(run: RunId): Promise<readonly RunRecord[]>;

  frame(run: RunId, index: number): Promise<Frame | undefined>;
  /** From `from` on, oldest first. */
  frames(run: RunId, from: number, limit: number): Promise<readonly Frame[]>;
  /** All values that hold in a frame, by key. */
  at(run: RunId, space: IntervalSpace, frame: number): Promise<ReadonlyMap<string, Json>>;
  valueAt(run: RunId, space: IntervalSpace, key: string, frame: number): Promise<Maybe>;
  transitions(run: RunId, filter?: TransitionFilter): Promise<Page<TransitionView, TransitionPlace>>;

  /** The log of a run from record `from` on, in order. */
  records(run: RunId, from: number, limit: number): Promise<readonly LogRecord[]>;
  /** The events of its records, from `from` on, in order. */
  events(run: RunId, from: number, limit: number): Promise<readonly StoredEvent[]>;

  task(run: RunId, task: TaskId): Promise<Task | undefined>;
  /** In order of creation. */
  tasks(run: RunId, filter?: TaskFilter): Promise<readonly Task[]>;
  /** Running tasks whose lease holder is not among the living owners. */
  orphans(alive: readonly OwnerId[]): Promise<readonly Orphan[]>;

  /** An agent's output during a task, from `from` on, in order. */
  stream(run: RunId, task: TaskId, from: number, limit: number): Promise<readonly StreamChunk[]>;
  /** The index of the last `message` chunk before an index in a task's stream. */
  messageBefore(run: RunId, task: TaskId, index: number): Promise<number | undefined>;

  decision(decision: ApprovalId): Promise<DecisionOfRun | undefined>;
  /** Oldest first. */
  decisions(filter?: DecisionFilter): Promise<readonly DecisionOfRun[]>;
  /** In order of creation. */
  artifacts(run: RunId, filter?: ArtifactFilter): Promise<readonly ArtifactRecord[]>;
  artifact(artifact: ArtifactId): Promise<ArtifactOfRun | undefined>;
  /** Over all runs, newest first, without contents. */
  artifactList(filter?: ArtifactListFilter): Promise<Page<ArtifactOfRun, ArtifactId>>;
  /** The spending of a run and all its sub-plans; a fork is a separate tree. */
  usageOfTree(run: RunId): Promise<UsageTotal>;
  /** Spending by day, model and working directory of the run; the latest day first. */
  spending(filter?: SpendingFilter): Promise<readonly Spending[]>;
  /** What each run that called a model since a moment has spent since, without its sub-plans. */
  spentByRun(since: Timestamp): Promise<readonly RunSpent[]>;
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
  /** Created at or after `since`, and before `until`. */
  readonly since?: Timestamp;
  readonly until?: Timestamp;
  /** The plan's file. */
  readonly entry?: string;
  /** The working directory of its agents. */
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

/** A transition with both values; undefined if the key did not exist. */
export interface TransitionView extends Omit<Transition, 'change'> {
  readonly old: Maybe;
  readonly new: Maybe;
}

interface TaskFilter {
  readonly status?: readonly TaskStatus[];
  readonly node?: NodeKey;
  readonly effects?: readonly Task['effects'][];
  readonly after?: TaskId;
  /** Unlimited by default. */
  readonly limit?: number;
}

interface Orphan {
  readonly run: RunId;
  readonly task: Task;
}

export interface DecisionOfRun {
  readonly run: RunId;
  readonly decision: Decision;
}

interface DecisionFilter {
  readonly run?: RunId;
  readonly status?: readonly Decision['status'][];
  readonly after?: ApprovalId;
  /** Unlimited by default. */
  readonly limit?: number;
}

interface ArtifactFilter {
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
  /** Only the last version of keyed artifacts by default. */
  readonly versions?: 'last' | 'all';
  readonly after?: ArtifactId;
  readonly limit?: number;
}

/** The default page size. */
export const DEFAULT_PAGE = 100;

/** Publishes commits in order. */
export interface RunFeed {
  /** Subscribes to one run or to all. The returned function unsubscribes. A listener must not throw. */
  subscribe(run: RunId | 'all', listener: (notice: CommitNotice) => void): () => void;
}

export interface CommitNotice {
  readonly run: RunId;
  readonly version: number;
  /** The `seq` of its first event; without events, of the next one. */
  readonly seq: number;
  /** Whether it opened a decision. */
  readonly asks: boolean;
  /** Built on first read. */
  readonly events: readonly StoredEvent[];
  readonly stream: readonly StreamChunk[];
}
