import { existsSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { nodeHasher } from '@signalbox/journal';
import {
  defectWords,
  type ErrorEnvelope,
  err,
  failure,
  ok,
  type ProjectId,
  type Result,
  type RunId,
} from '@signalbox/model';
import { type LogRecord, openRecord, ownerId } from '@signalbox/runs';
import {
  acquireOwner,
  diskRefusal,
  type LogDefect,
  openArchive,
  openRepair,
  type ProjectCheck,
  type RebuildReport,
  type Repair,
  removeSearchFile,
} from '@signalbox/store';
import type { Machine } from '../machine.ts';
import { searchFile } from '../search/refresh-search.ts';
import { type Holding, holdingOf, type JournalLoss, lossesOf, replacementRefusal } from './journal-losses.ts';
import { misplacedFile } from './misplaced-files.ts';
import { journalLog, projectsWithJournal, runsWithJournal } from './run-journals.ts';

export interface RepairRequest {
  readonly dataDirectory: string;
  readonly machine: Machine;
  /** Only report what would be done. */
  readonly dryRun?: boolean;
  /** Move the database aside and rebuild it from the journals. */
  readonly fromJournals?: boolean;
  /** Rebuild from the journals even if they lack what the database holds. */
  readonly acceptsLoss?: boolean;
}

/** What a repair did, or would do. */
export interface RepairReport {
  /** Everything matches its log. */
  readonly ok: boolean;
  readonly dryRun: boolean;
  readonly runs: number;
  /** Runs whose rows were rebuilt. */
  readonly rebuilt: readonly RunId[];
  /** Runs that were restored from their journals, completely or from where their logs ended. */
  readonly restored: readonly { readonly run: RunId; readonly records: number }[];
  /** Indexes, tables and so on that were missing or altered, and were made again; absent if there are none. */
  readonly schema?: readonly string[];
  /** Removed rows that belong to no log, and what is not part of the schema. */
  readonly removed: readonly string[];
  /** Runs that were left unchanged, and why. */
  readonly damaged: readonly { readonly run: RunId; readonly what: string }[];
  /** Contents that neither log nor journal holds. */
  readonly missing: readonly { readonly run: RunId; readonly what: string }[];
  /** The same for the logs of projects; absent if there are none. */
  readonly projects?: ProjectRepair;
  /** Records that the replaced database held and the journals do not; absent if there are none. */
  readonly lost?: readonly JournalLoss[];
  /** Where the replaced database was moved. */
  readonly aside?: string;
}

interface ProjectRepair {
  readonly projects: number;
  readonly rebuilt: readonly ProjectId[];
  readonly restored: readonly { readonly project: ProjectId; readonly records: number }[];
  readonly damaged: readonly { readonly project: ProjectId; readonly what: string }[];
  readonly missing: readonly { readonly project: ProjectId; readonly what: string }[];
}

/**
 * Repairs a data directory: rows from the logs, then logs from the journals. Only the owner does it. Anything that cannot be restored is
 * named. Partial agent output (token by token) is in no log, and is left in place.
 */
export function repairHome(request: RepairRequest): Result<RepairReport, ErrorEnvelope> {
  const { dataDirectory, machine, dryRun = false, fromJournals = false, acceptsLoss = false } = request;
  const owner = acquireOwner(dataDirectory, { id: ownerId.parse(machine.ids.mint<RunId>()), clock: machine.clock });
  if (!owner.ok) return owner;
  try {
    const misplaced = misplacedFile(dataDirectory);
    if (misplaced !== undefined) return err(misplaced);
    if (fromJournals) return fromTheJournals(dataDirectory, { dryRun, acceptsLoss });
    if (dryRun) return foreseen(dataDirectory, false);
    // A cache: the next search makes it again.
    removeSearchFile(searchFile(dataDirectory));
    return repairedFile(path.join(dataDirectory, 'db.sqlite'), dataDirectory);
  } finally {
    owner.value.release();
  }
}

/** The database is set aside only if the journals have all that it holds, or if a loss was confirmed. */
function fromTheJournals(
  dataDirectory: string,
  { dryRun, acceptsLoss }: Required<Pick<RepairRequest, 'dryRun' | 'acceptsLoss'>>,
): Result<RepairReport, ErrorEnvelope> {
  const file = path.join(dataDirectory, 'db.sqlite');
  const holding = holdingOf(file);
  const confirmed = (report: RepairReport) =>
    acceptsLoss ? ok(withLoss(holding, report)) : unlessLost(holding, report);
  const expected = foreseen(dataDirectory, true);
  const agreed = expected.ok ? confirmed(expected.value) : expected;
  if (dryRun || !agreed.ok) return agreed;
  removeSearchFile(searchFile(dataDirectory));
  return replaced(file, () => {
    const made = repairedFile(file, dataDirectory);
    return made.ok ? confirmed(made.value) : made;
  });
}

function unlessLost(holding: Holding, report: RepairReport): Result<RepairReport, ErrorEnvelope> {
  const refusal = replacementRefusal(holding, report);
  return refusal === undefined ? ok(report) : err(refusal);
}

function withLoss(holding: Holding, report: RepairReport): RepairReport {
  const lost = lossesOf(holding, report);
  return lost.length === 0 ? report : { ...report, lost };
}

function repairedFile(file: string, dataDirectory: string): Result<RepairReport, ErrorEnvelope> {
  // The database is not to blame for a disk that takes nothing.
  const held = diskRefusal(dataDirectory);
  if (held !== undefined) return err(held);
  const repair = openRepair({ path: file });
  if (!repair.ok) return err(orFromJournals(repair.error));
  try {
    return repaired(repair.value, dataDirectory);
  } finally {
    repair.value.close();
  }
}

/** Makes a database in place of the old one, which comes back unless the new one is complete. */
function replaced(file: string, make: () => Result<RepairReport, ErrorEnvelope>): Result<RepairReport, ErrorEnvelope> {
  const aside = putAside(file);
  let made: ReturnType<typeof make> | undefined;
  try {
    made = make();
    return made.ok && aside !== undefined ? ok({ ...made.value, aside: path.basename(aside) }) : made;
  } finally {
    if (made?.ok !== true && aside !== undefined) putBack(aside, file);
  }
}

function repaired(repair: Repair, dataDirectory: string): Result<RepairReport, ErrorEnvelope> {
  const first = repair.rebuild();
  if (!first.ok) return err(orFromJournals(first.error));
  const { restored, refused } = restoreFrom(dataDirectory, {
    logOf: run => [...repair.log(run)],
    append: repair.append,
    replace: repair.replace,
    without: brokenOf(first.value),
  });
  const projects = restoreProjects(dataDirectory, {
    logOf: project => [...repair.projectLog(project)],
    append: repair.appendToProject,
    without: new Set(first.value.ofProjects.damaged.filter(isBroken).map(({ project }) => project)),
  });
  // What was restored is checked like everything else.
  const last = restored.length + projects.restored.length === 0 ? first : repair.rebuild();
  if (!last.ok) return last;
  const report = reportOf(first.value, last.value, { restored, refused, projects }, false);
  return ok(repair.schema.length === 0 ? report : { ...report, schema: repair.schema });
}

/** Runs with broken logs. One that only lost its end can be continued. */
function brokenOf({ damaged }: Pick<RebuildReport, 'damaged'>): ReadonlySet<RunId> {
  return new Set(damaged.filter(isBroken).map(({ run }) => run));
}

function isBroken({ defect }: { readonly defect: LogDefect }): boolean {
  return defect.isCutShort !== true;
}

interface Restoring {
  readonly logOf: (run: RunId) => readonly LogRecord[];
  readonly append: (run: RunId, records: readonly LogRecord[]) => Result<number, string>;
  readonly replace: (run: RunId, records: readonly LogRecord[]) => Result<number, string>;
  readonly without: ReadonlySet<RunId>;
}

type Named = RepairReport['damaged'][number];

/** Restores what journals have and logs lack. A journal that contradicts the log changes nothing. */
function restoreFrom(
  dataDirectory: string,
  { logOf, append, replace, without }: Restoring,
): { readonly restored: RepairReport['restored']; readonly refused: readonly Named[] } {
  const restored: { run: RunId; records: number }[] = [];
  const refused: Named[] = [];
  for (const run of runsWithJournal(dataDirectory)) {
    const isBroken = without.has(run);
    const journal = journalLog(dataDirectory, run);
    if (!journal.ok) {
      if (isBroken) continue;
      refused.push({ run, what: `its journal cannot be read: ${journal.error}` });
      continue;
    }
    const { records, defect } = journal.value;
    const log = logOf(run);
    // A log from before a removal: its journal says what was removed, and has the rest. Its blobs may be gone.
    const isOlder = isTakenLater(log, records);
    if (isBroken && !isOlder) continue;
    if (defect !== undefined)
      refused.push({ run, what: `its journal is damaged after ${records.length} records: ${defect}` });
    const at = log.findIndex((record, n) => records[n] !== undefined && records[n].hash !== record.hash);
    if (at >= 0) {
      refused.push({ run, what: `its journal and its log differ in record ${at}` });
      continue;
    }
    const other = log.findIndex((record, n) => records[n] !== undefined && records[n].body !== record.body);
    if (records.length <= log.length && other < 0) continue;
    if (other >= 0 && !isOlder) {
      refused.push({ run, what: `its journal and its log differ in the body of record ${other}` });
      continue;
    }
    const taken = isOlder ? replace(run, records) : append(run, records.slice(log.length));
    if (taken.ok) restored.push({ run, records: taken.value });
    else refused.push({ run, what: `its journal could not be restored: ${taken.error}` });
  }
  return { restored, refused };
}

/** The same for projects, whose bodies are never replaced. */
function restoreProjects(
  dataDirectory: string,
  { logOf, append, without }: ProjectRestoring,
): Pick<ProjectRepair, 'restored'> & { readonly refused: ProjectRepair['damaged'] } {
  const restored: { project: ProjectId; records: number }[] = [];
  const refused: { project: ProjectId; what: string }[] = [];
  for (const project of projectsWithJournal(dataDirectory)) {
    if (without.has(project)) continue;
    const journal = journalLog(dataDirectory, project, 'project');
    if (!journal.ok) {
      refused.push({ project, what: `its journal cannot be read: ${journal.error}` });
      continue;
    }
    const { records, defect } = journal.value;
    if (defect !== undefined)
      refused.push({ project, what: `its journal is damaged after ${records.length} records: ${defect}` });
    const log = logOf(project);
    const at = log.findIndex(
      ({ hash, body }, n) => records[n] !== undefined && (records[n].hash !== hash || records[n].body !== body),
    );
    if (at >= 0) refused.push({ project, what: `its journal and its log differ in record ${at}` });
    if (at >= 0 || records.length <= log.length) continue;
    const taken = append(project, records.slice(log.length));
    if (taken.ok) restored.push({ project, records: taken.value });
    else refused.push({ project, what: `its journal could not be restored: ${taken.error}` });
  }
  return { restored, refused };
}

interface ProjectRestoring {
  readonly logOf: (project: ProjectId) => readonly LogRecord[];
  readonly append: (project: ProjectId, records: readonly LogRecord[]) => Result<number, string>;
  readonly without: ReadonlySet<ProjectId>;
}

/** Whether a journal continues where a log ends, and every differing body was replaced by a record that the log lacks. */
function isTakenLater(log: readonly LogRecord[], records: readonly LogRecord[]): boolean {
  if (log.length === 0 || records.length <= log.length) return false;
  const other = log.flatMap((record, n) => (records[n]?.body === record.body ? [] : [{ record, now: records[n] }]));
  return (
    other.length > 0 &&
    other.every(({ record, now }) => {
      const opened = now?.hash === record.hash ? openRecord(now, nodeHasher) : undefined;
      return opened?.ok === true && (opened.value.body.away?.by ?? 0) >= log.length;
    })
  );
}

interface Restored extends ReturnType<typeof restoreFrom> {
  readonly projects: ReturnType<typeof restoreProjects>;
}

function reportOf(
  first: RebuildReport,
  { runs, damaged, missing, ofProjects }: RebuildReport,
  { restored, refused, projects: fromJournals }: Restored,
  dryRun: boolean,
): RepairReport {
  const left = [...damaged.map(({ run, defect }) => ({ run, what: defectWords(defect) })), ...refused];
  const gone = missing.map(({ run, defect }) => ({ run, what: defectWords(defect) }));
  const { rebuilt, removed } = first;
  const projects = projectsOf(first.ofProjects, ofProjects, fromJournals);
  const faults = [...left, ...gone, ...projects.damaged, ...projects.missing];
  const report = { ok: faults.length === 0, dryRun, runs, rebuilt, restored, removed, damaged: left, missing: gone };
  return projects.projects + projects.restored.length + projects.damaged.length === 0
    ? report
    : { ...report, projects };
}

function projectsOf(
  first: RebuildReport['ofProjects'],
  last: RebuildReport['ofProjects'],
  { restored, refused }: ReturnType<typeof restoreProjects>,
): ProjectRepair {
  const named = ({ project, defect }: RebuildReport['ofProjects']['damaged'][number]) => ({
    project,
    what: defectWords(defect),
  });
  const { projects, damaged, missing } = last;
  return {
    projects,
    rebuilt: first.rebuilt,
    restored,
    damaged: [...damaged.map(named), ...refused],
    missing: missing.map(named),
  };
}

/** What a rebuild of the projects' rows would do. */
function foreseenProjects(checks: Iterable<ProjectCheck>): RebuildReport['ofProjects'] {
  const named = [...checks].flatMap(({ project, defects }) => (project === undefined ? [] : [{ project, defects }]));
  const withDefect = (place: string) =>
    named.flatMap(({ project, defects }) => {
      const defect = defects.find(({ where }) => where === place);
      return defect === undefined ? [] : [{ project, defect }];
    });
  const damaged = withDefect('log');
  const left = new Set(damaged.map(({ project }) => project));
  const rebuilt = withDefect('table').flatMap(({ project }) => (left.has(project) ? [] : [project]));
  return { projects: named.length, rebuilt, damaged, removed: [], missing: withDefect('blob') };
}

/** What a repair would do, determined without writing. */
function foreseen(dataDirectory: string, fromJournals: boolean): Result<RepairReport, ErrorEnvelope> {
  const archive = openArchive({ path: path.join(dataDirectory, 'db.sqlite') });
  if (!archive.ok && archive.error.code !== 'store/missing' && !fromJournals) return err(orFromJournals(archive.error));
  const [broken] = archive.ok && !fromJournals ? archive.value.integrity() : [];
  if (archive.ok && broken !== undefined) {
    archive.value.close();
    return err(damagedFile(broken));
  }
  const checks = archive.ok && !fromJournals ? [...archive.value.checkAll()] : [];
  const damaged = checks.flatMap(({ run, defects }) => {
    const defect = defects.find(({ where }) => where === 'log');
    return defect === undefined ? [] : [{ run, defect }];
  });
  const rebuilt = checks.filter(({ defects }) => defects.some(({ where }) => where === 'table')).map(({ run }) => run);
  const missing = checks.flatMap(({ run, defects }) =>
    defects.filter(({ where }) => where === 'blob').map(defect => ({ run, defect })),
  );
  const strays = archive.ok && !fromJournals ? archive.value.strays() : [];
  const { restored, refused } = restoreFrom(dataDirectory, {
    logOf: run => (archive.ok && !fromJournals ? [...archive.value.archived(run, 'records')] : []),
    append: (_, records) => ok(records.length),
    replace: (_, records) => ok(records.length),
    without: brokenOf({ damaged }),
  });
  const ofProjects = foreseenProjects(archive.ok && !fromJournals ? archive.value.checkProjects() : []);
  const projects = restoreProjects(dataDirectory, {
    logOf: project => (archive.ok && !fromJournals ? archive.value.projectRecords(project, 0, -1) : []),
    append: (_, records) => ok(records.length),
    without: new Set(ofProjects.damaged.filter(isBroken).map(({ project }) => project)),
  });
  if (archive.ok) archive.value.close();
  const removed = strays.map(({ table, key }) => `${table} of ${key}`);
  const report = { runs: checks.length, rebuilt, damaged, removed, missing, ofProjects };
  return ok(reportOf(report, report, { restored, refused, projects }, true));
}

/** Moved aside, not removed: it may hold data that no journal has. */
function putAside(file: string): string | undefined {
  if (!existsSync(file)) return undefined;
  let number = 1;
  const nameOf = () => `${file}.aside-${number}`;
  while (existsSync(nameOf())) number += 1;
  for (const suffix of SUFFIXES) {
    if (existsSync(file + suffix)) renameSync(file + suffix, nameOf() + suffix);
  }
  return nameOf();
}

function putBack(aside: string, file: string): void {
  for (const suffix of SUFFIXES) {
    rmSync(file + suffix, { force: true });
    if (existsSync(aside + suffix)) renameSync(aside + suffix, file + suffix);
  }
}

/** The write-ahead log belongs to the database, and is found by its name. */
const SUFFIXES = ['', '-wal', '-shm'] as const;

/** The file itself is damaged. A repair rebuilds its indexes first, which may be enough. */
function damagedFile(what: string): ErrorEnvelope<'store/unusable'> {
  return failure('store/unusable', {
    message: `The database file is damaged: ${what}.`,
    suggestion:
      'Run "signalbox repair"; if that cannot fix it, "signalbox repair --from-journals" sets it aside and rebuilds it.',
  });
}

function orFromJournals(error: ErrorEnvelope): ErrorEnvelope {
  if (error.code !== 'store/unusable') return error;
  return {
    ...error,
    suggestion: 'Set it aside and rebuild it from the journals: "signalbox repair --from-journals".',
  };
}
