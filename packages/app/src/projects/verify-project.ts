import path from 'node:path';
import { type Digest, type ErrorEnvelope, err, failure, ok, type ProjectId, type Result } from '@signalbox/model';
import { openArchive } from '@signalbox/store';
import { usageError } from '../command-error.ts';
import type { RunDefect } from '../run-journal/verify-run.ts';

/** How far the log of a project can be relied on. */
export interface ProjectReport {
  readonly ok: boolean;
  readonly project: ProjectId;
  readonly records: number;
  readonly head: Digest;
  /** The first defects, with their places. */
  readonly defects?: readonly RunDefect[];
}

/** Checks a project of a data directory: the chain of its log, every row that follows from it, and every blob that it names. */
export function verifyProject(
  dataDirectory: string,
  project: ProjectId,
  expectHead?: string | undefined,
): Result<ProjectReport, ErrorEnvelope> {
  if (expectHead !== undefined && !/^sha256:[0-9a-f]{64}$/.test(expectHead))
    return err(usageError(`${JSON.stringify(expectHead)} is not a head.`, 'A head is "sha256:" and 64 hex digits.'));
  const archive = openArchive({ path: path.join(dataDirectory, 'db.sqlite') });
  if (!archive.ok) return archive;
  try {
    const check = [...archive.value.checkProjects()].find(found => found.project === project);
    if (check === undefined) return err(unknownProject(project));
    const { records, head, heads } = check;
    const defects: RunDefect[] = [...check.defects];
    if (expectHead !== undefined && !heads.has(expectHead))
      defects.push({ where: 'expected head', what: `${expectHead} is no head of it` });
    return ok({ ok: defects.length === 0, project, records, head, ...(defects.length > 0 && { defects }) });
  } finally {
    archive.value.close();
  }
}

function unknownProject(project: ProjectId): ErrorEnvelope<'project/refused'> {
  return failure('project/refused', {
    message: `There is no project ${project} in this data directory.`,
    suggestion: 'Name another data directory with --data-dir DIRECTORY.',
    details: { project },
  });
}
