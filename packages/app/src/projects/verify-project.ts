import path from 'node:path';
import type { VerifyReport } from '@signalbox/journal';
import {
  type Digest,
  type ErrorEnvelope,
  err,
  failure,
  ok,
  type ProjectId,
  type Result,
  type RunId,
} from '@signalbox/model';
import type { ProjectReader } from '@signalbox/runs';
import { usageError } from '../command-error.ts';
import { keptStateFault } from '../fleet/fleet-log.ts';
import { openArchive } from '../repair/lost-database.ts';
import { projectsWithJournal } from '../repair/run-journals.ts';
import { collections } from '../run-journal/derive-journal.ts';
import { type JournalRecords, journalDisagreement, readJournal } from '../run-journal/journal-agreement.ts';
import type { RunDefect } from '../run-journal/verify-run.ts';
import { verifyDirectory } from '../verify-directory.ts';

/** How far the log of a project can be relied on. */
export interface ProjectReport {
  readonly ok: boolean;
  readonly project: ProjectId;
  readonly records: number;
  readonly head: Digest;
  /** The first defects, with their places. */
  readonly defects?: readonly RunDefect[];
  /** The check of its journal files; absent if there are none yet. */
  readonly journal?: VerifyReport;
  /** How many records the journal lacks. The owner of the data directory writes them. */
  readonly behind?: number;
}

/**
 * Checks a project of a data directory: the chain of its log, every row that follows from it, every blob that it names, the state that was
 * kept, and its journal. The journal follows the log, so it is read first.
 */
export async function verifyProject(
  dataDirectory: string,
  project: ProjectId,
  expectHead?: string | undefined,
): Promise<Result<ProjectReport, ErrorEnvelope>> {
  if (expectHead !== undefined && !/^sha256:[0-9a-f]{64}$/.test(expectHead))
    return err(usageError(`${JSON.stringify(expectHead)} is not a head.`, 'A head is "sha256:" and 64 hex digits.'));
  const journal = journalIn(dataDirectory, project);
  const archive = openArchive({ path: path.join(dataDirectory, 'db.sqlite') });
  if (!archive.ok) return archive;
  try {
    const check = [...archive.value.checkProjects()].find(found => found.project === project);
    if (check === undefined) return err(unknownProject(project));
    const { records, head, heads } = check;
    const defects: RunDefect[] = [...check.defects];
    if (expectHead !== undefined && !heads.has(expectHead))
      defects.push({ where: 'expected head', what: `${expectHead} is no head of it` });
    const facts = { project, records, head };
    if (check.defects.some(({ where }) => where === 'log')) return ok({ ok: false, ...facts, defects });
    const state = keptStateFault(project, archive.value);
    if (state !== undefined) defects.push({ where: 'table', table: 'project_states', what: state });
    const wrong = await faultOf(journal, project, archive.value);
    if (wrong !== undefined) defects.push({ where: 'journal', what: wrong });
    const { report, held } = journal;
    const behind = records - held.records.length;
    return ok({
      ok: defects.length === 0,
      ...facts,
      ...(defects.length > 0 && { defects }),
      ...(report !== undefined && { journal: report }),
      ...(behind > 0 && wrong === undefined && { behind }),
    });
  } finally {
    archive.value.close();
  }
}

interface ProjectJournal {
  readonly report?: VerifyReport;
  readonly held: JournalRecords;
  /** Why its files cannot be relied on. */
  readonly fault?: string | undefined;
}

/** A project that was just created has no journal. */
function journalIn(dataDirectory: string, project: ProjectId): ProjectJournal {
  if (!projectsWithJournal(dataDirectory).includes(project)) return { held: { records: [] } };
  const report = verifyDirectory(path.join(dataDirectory, collections.project, project));
  if (!report.ok) return { held: { records: [] }, fault: report.error.message };
  const held = readJournal(dataDirectory, project, 'project');
  return { report: report.value, held, fault: report.value.defect?.reason };
}

async function faultOf(
  { held, fault }: ProjectJournal,
  project: ProjectId,
  log: Pick<ProjectReader, 'projectRecords'>,
): Promise<string | undefined> {
  const records = async (_: RunId, from: number, limit: number) => log.projectRecords(project, from, limit);
  return fault ?? journalDisagreement(held, { records }, project as string as RunId);
}

/** Why the journal of a project is damaged, or differs from its log. */
export async function projectJournalFault(
  dataDirectory: string,
  project: ProjectId,
  log: Pick<ProjectReader, 'projectRecords'>,
): Promise<string | undefined> {
  return faultOf(journalIn(dataDirectory, project), project, log);
}

function unknownProject(project: ProjectId): ErrorEnvelope<'project/refused'> {
  return failure('project/refused', {
    message: `There is no project ${project} in this data directory.`,
    suggestion: 'Name another data directory with --data-dir DIRECTORY.',
    details: { project },
  });
}
