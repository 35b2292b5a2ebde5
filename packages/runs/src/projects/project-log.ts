import type { Digest, Json, ProjectId, Result } from '@signalbox/model';
import type { LogRecord } from '../log/record.ts';
import type { ProjectCommitError, ProjectGuard, ProjectRow } from './project-commit.ts';
import type { OpenProjectRecord, ProjectDraft, Thing, ThingKind } from './project-record.ts';

/**
 * The logs of projects (T1).
 *
 * 1. A commit is durable before it is answered. Commits that wait at the same time, to projects and to runs, share one fsync.
 * 2. A commit that does not match its guard changes nothing, and neither does one that fails, unless its outcome is unknown.
 * 3. Lists of things follow from the log, and are written in the transaction of their record.
 */
export interface ProjectLog extends ProjectReader {
  commitToProject(draft: ProjectDraft, guard: ProjectGuard): Promise<Result<ProjectRow, ProjectCommitError>>;
  /** Calls the listener after every durable commit. Returns how to end it. */
  onProjectCommit(listener: (project: ProjectId) => void): () => void;
  /** Keeps a state that follows from the first records. It is a cache, not a fact: losing it costs a longer start. */
  keepState(project: ProjectId, state: KeptState): void;
}

export interface ProjectReader {
  /** In order of creation. */
  projects(): readonly ProjectRow[];
  project(id: ProjectId): ProjectRow | undefined;
  /** From record `from` on, in order, as stored. */
  projectRecords(project: ProjectId, from: number, limit: number): readonly LogRecord[];
  /** The same, opened. Throws if one is damaged. */
  projectFacts(project: ProjectId, from: number): Iterable<OpenProjectRecord>;
  things(project: ProjectId, filter: ThingFilter): readonly PlacedThing[];
  /** The state that was kept last, if it belongs to a record of this log. */
  keptState(project: ProjectId): KeptState | undefined;
}

/** A state, and the log that it follows from. */
export interface KeptState {
  readonly records: number;
  readonly head: Digest;
  readonly state: Json;
}

export interface ThingFilter {
  readonly kind: ThingKind;
  readonly id?: string | undefined;
  readonly agent?: string | undefined;
  readonly status?: string | undefined;
  /** Only things of earlier records: the place of the last one of the previous page. */
  readonly before?: ThingPlace | undefined;
  readonly limit: number;
}

/** Where a thing is in the log: the record, and its index in it. */
interface ThingPlace {
  readonly record: number;
  readonly index: number;
}

/** A thing with its place. Lists are in reverse order of the log: newest first. */
export interface PlacedThing extends Thing, ThingPlace {}
