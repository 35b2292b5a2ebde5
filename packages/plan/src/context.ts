import type { Json, Timestamp } from '@signalbox/model';
import type { ArtifactAccess } from './artifacts/artifact-access.ts';
import type { FileAccess } from './workspaces/plan-files.ts';
import type { WorkspacePlace } from './workspaces/workspace-access.ts';

/** What a plan's code can see and do. One object for the whole run; its answers are those of the current frame. */
export interface PlanContext<Input, State extends object> {
  readonly input: Input;
  readonly state: StateAccess<State>;
  /** State that lives as long as the process, with the same batching rules. */
  readonly vol: VolatileAccess;
  /** Read-only queries of committed data. */
  readonly db: QueryAccess;
  /** Files under the run's working directory. */
  readonly fs: FileAccess;
  /** The location of the run's workspace, if it has one. */
  readonly workspace: WorkspacePlace | undefined;
  /** Creates artifacts for people to see. */
  readonly artifact: ArtifactAccess;
  /** The time of the frame, which does not change while the frame is made. */
  now(): Timestamp;
  /** From 0 up to 1, the same for the same run, frame and call. */
  random(): number;
  /** The hook form of `Effect`. */
  effect(id: string, deps: readonly Json[], run: () => unknown): void;
}

/** Durable state. Reads return the frame's snapshot; writes are queued and become visible in the flush. */
export interface StateAccess<State extends object> {
  get<Key extends keyof State & string>(key: Key): State[Key];
  set<Key extends keyof State & string>(key: Key, value: State[Key], options?: WriteOptions): void;
  /** Runs `reduce` on the value at its turn in the flush. */
  update<Key extends keyof State & string>(
    key: Key,
    reduce: (value: State[Key]) => State[Key],
    options?: WriteOptions,
  ): void;
  delete<Key extends keyof State & string>(key: Key, options?: WriteOptions): void;
  /** Sets the key if it is absent at its turn. The only write that a render may request. */
  init<Key extends keyof State & string>(key: Key, value: State[Key]): void;
}

export interface VolatileAccess {
  get(key: string): Json | undefined;
  set(key: string, value: Json): void;
  update(key: string, reduce: (value: Json | undefined) => Json): void;
  delete(key: string): void;
}

export interface WriteOptions {
  /** The reason, for the transition log: `claude.finished`. */
  readonly trigger?: string;
}

/** The tables whose changes a query can wait for. Frames and events change with every frame, so no query can wait for them. */
export const queryTables = ['runs', 'nodes', 'state', 'tasks', 'decisions', 'artifacts', 'usage'] as const;
export type QueryTable = (typeof queryTables)[number];

export interface QueryAccess {
  /** Runs again when one of the tables in `invalidateOn` changed. */
  query<Row = { readonly [column: string]: Json }>(
    sql: string,
    options: { readonly params?: readonly Json[]; readonly invalidateOn: readonly QueryTable[] },
  ): readonly Row[];
}
