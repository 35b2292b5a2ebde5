import {
  type Digest,
  EMPTY_HEAD,
  type ErrorEnvelope,
  err,
  failure,
  ok,
  type ProjectId,
  plainDataFault,
  type Result,
  type Timestamp,
} from '@signalbox/model';
import type { LogRecord } from '../log/record.ts';
import type { SealPorts } from '../log/seal-record.ts';
import { type ProjectDraft, sealProjectRecord } from './project-record.ts';

/** A project, as its log leaves it. */
export interface ProjectRow {
  readonly id: ProjectId;
  readonly records: number;
  readonly head: Digest;
  readonly createdAt: Timestamp;
  readonly updatedAt: Timestamp;
}

/** What a commit must find: the number of records that its writer knows. 0 begins the log. */
export interface ProjectGuard {
  readonly project: ProjectId;
  readonly records: number;
}

export type ProjectCommitError = ErrorEnvelope<
  'project/stale' | 'project/refused' | 'STORE_IO_FAILED' | 'store/outcome-unknown'
>;

export interface ProjectPlan {
  readonly row: ProjectRow;
  readonly record: LogRecord;
}

/** The one judge of commits to a project: the record and the row that follow, or why there are none. */
export function planProjectCommit(
  before: ProjectRow | undefined,
  draft: ProjectDraft,
  { project, records }: ProjectGuard,
  ports: SealPorts,
): Result<ProjectPlan, ProjectCommitError> {
  const length = before?.records ?? 0;
  if (records !== length) return err(stale(project, records, length));
  const fault = draftFault(draft);
  if (fault !== undefined) return err(refusedByProject(project, fault));
  const record = sealProjectRecord(ports, before?.head ?? EMPTY_HEAD, { log: project, n: length }, draft);
  return ok({ record, row: projectAfter(before, project, draft.at, record.hash) });
}

/** The row after a record. */
export function projectAfter(before: ProjectRow | undefined, id: ProjectId, at: Timestamp, head: Digest): ProjectRow {
  return { id, records: (before?.records ?? 0) + 1, head, createdAt: before?.createdAt ?? at, updatedAt: at };
}

const MAX_WORD = 200;

function draftFault({ fact, things }: ProjectDraft): string | undefined {
  for (const { id, agent = 'a', status = 'a', value } of things) {
    const word = [id, agent, status].find(one => one.length === 0 || one.length > MAX_WORD || !one.isWellFormed());
    if (word !== undefined) return `${JSON.stringify(word.slice(0, 40))} is no id, agent or status`;
    const why = plainDataFault(value);
    if (why !== undefined) return `a value is not plain data: ${why}`;
  }
  const why = plainDataFault(fact);
  return why === undefined ? undefined : `the fact is not plain data: ${why}`;
}

export function refusedByProject(project: ProjectId, why: string): ErrorEnvelope<'project/refused'> {
  return failure('project/refused', {
    message: `Nothing was written to project ${project}: ${why}.`,
    suggestion: 'Read the project again and commit what fits it.',
    details: { project },
  });
}

function stale(project: ProjectId, known: number, records: number): ErrorEnvelope<'project/stale'> {
  return failure('project/stale', {
    message: `Project ${project} has ${records} records; the writer knows ${known}.`,
    suggestion: 'Read what was committed meanwhile, then commit again.',
    retry: { kind: 'retryable_immediate' },
    details: { project, records, known },
  });
}
