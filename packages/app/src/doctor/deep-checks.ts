import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { nodeHasher } from '@signalbox/journal';
import { defectWords, type RunId } from '@signalbox/model';
import { type Archive, openArchive } from '@signalbox/store';
import { projectJournalFault } from '../projects/verify-project.ts';
import { noteFault } from '../redact/taking-note.ts';
import { journalsAhead } from '../repair/journals-ahead.ts';
import { journalLength, projectsWithJournal, runsWithJournal } from '../repair/run-journals.ts';
import { journalDisagreement, readJournal } from '../run-journal/journal-agreement.ts';
import { openWrittenLengths } from '../run-journal/written-lengths.ts';
import { verifyDirectory } from '../verify-directory.ts';
import { type Check, failed, passed } from './check.ts';

const SHOWN = 5;
const REPAIR = 'Run "signalbox repair": it rebuilds what it can and reports the rest.';
const RESTORE = 'Restore it from a backup or an export.';

/** Checks all stored data: the database file, every log, every row, every blob, and the journals of runs and guided sessions. */
export async function checkDeep(dataDir: string): Promise<readonly Check[]> {
  const file = path.join(dataDir, 'db.sqlite');
  const archive = openArchive({ path: file });
  const stored = archive.ok
    ? await checkArchive(archive.value, dataDir)
    : archive.error.code === 'store/missing'
      ? [passed('database', 'no runs yet')]
      : [
          failed(
            'database',
            archive.error.message,
            `${archive.error.suggestion} Or rebuild it: "signalbox repair --from-journals".`,
          ),
        ];
  return [...stored, checkJournals(dataDir, true), checkBlobs(dataDir), checkSessions(dataDir), ...checkNote(dataDir)];
}

/** Whether the database has everything that the journals have. */
export function checkJournals(dataDir: string, all = false): Check {
  const { absent, behind } = journalsAhead(dataDir, { all });
  if (absent.length + behind.length === 0) return passed('journals', 'the database has every record of the journals');
  const runs = [...absent, ...behind];
  return failed('journals', `the database lacks journal records of ${listed(runs)}`, REPAIR);
}

/** Journals that differ from the logs. One that ends early is only behind, and one that goes further is reported separately. */
async function journalsChanged(archive: Archive, dataDir: string): Promise<Check> {
  const { absent, behind } = journalsAhead(dataDir, { all: true });
  const ahead = new Set([...absent, ...behind]);
  const runs = runsWithJournal(dataDir).filter(run => !ahead.has(run));
  const wrong: string[] = [];
  // Read before the journals, which only grow.
  for (const [run, noted] of openWrittenLengths(dataDir, 'journaled').all()) {
    const length = journalLength(dataDir, run);
    if (length >= noted || (await archive.run(run as RunId)) === undefined) continue;
    wrong.push(`run ${run}: its journal has ${length} records but had ${noted}`);
  }
  for (const run of runs) {
    const verified = verifyDirectory(path.join(dataDir, 'runs', run));
    const defect = verified.ok ? verified.value.defect?.reason : verified.error.message;
    // Journals grow while they are read; whether they are ahead of the database is reported separately.
    const what = defect ?? (await journalDisagreement(readJournal(dataDir, run), archive, run, { mayBeAhead: true }));
    if (what !== undefined) wrong.push(`run ${run}: ${what}`);
  }
  if (wrong.length === 0) return passed('run journals', `${runs.length}, each with the records of its log`);
  return failed('run journals', listed(wrong), `Look closer with "signalbox verify RUN". ${RESTORE}`);
}

async function checkArchive(archive: Archive, dataDir: string): Promise<readonly Check[]> {
  try {
    const broken = archive.integrity();
    if (broken.length > 0) return [failed('database', broken.slice(0, SHOWN).join('; '), REPAIR)];
    let [runs, records] = [0, 0];
    const wrong = [];
    for (const { run, records: count, defects } of archive.checkAll()) {
      runs += 1;
      records += count;
      const [first] = defects;
      if (first !== undefined) wrong.push(`run ${run}: ${defectWords(first)}`);
    }
    const strays = archive.strays().map(defectWords);
    const found = [...wrong, ...strays];
    return [
      passed('database', 'SQLite finds no problems in the file'),
      found.length === 0
        ? passed('runs', `${records} records of ${runs} runs, and every row and blob matches them`)
        : failed('runs', listed(found), `Look closer with "signalbox verify RUN". ${REPAIR}`),
      await journalsChanged(archive, dataDir),
      await checkProjects(archive, dataDir),
    ];
  } catch (cause) {
    // This check is for unreadable pages.
    if (!(cause instanceof Error)) throw cause;
    return [failed('database', cause.message, `${REPAIR} If it cannot be opened: "signalbox repair --from-journals".`)];
  } finally {
    archive.close();
  }
}

/** Logs of projects, what follows from them, and their journals. */
async function checkProjects(archive: Archive, dataDir: string): Promise<Check> {
  let [projects, records] = [0, 0];
  const wrong: string[] = [];
  for (const { project, n, records: count, defects } of archive.checkProjects()) {
    projects += 1;
    records += count;
    const [first] = defects;
    if (first !== undefined) wrong.push(`project ${project ?? `number ${n}`}: ${defectWords(first)}`);
  }
  for (const project of projectsWithJournal(dataDir)) {
    const what = await projectJournalFault(dataDir, project, archive);
    if (what !== undefined) wrong.push(`project ${project}: its journal: ${what}`);
  }
  if (wrong.length > 0)
    return failed('projects', listed(wrong), `Look closer with "signalbox verify PROJECT". ${REPAIR}`);
  return passed('projects', `${records} records of ${projects} projects, and every row and blob matches them`);
}

/** Whether a removal is in progress, or was when a process was killed. */
function checkNote(dataDir: string): readonly Check[] {
  const fault = noteFault(dataDir);
  return fault === undefined ? [] : [failed('taken away', fault.message, fault.suggestion)];
}

function checkBlobs(dataDir: string): Check {
  const root = path.join(dataDir, 'blobs');
  const files = existsSync(root) ? readdirSync(root, { recursive: true, encoding: 'utf8' }) : [];
  const blobs = files.filter(file => /^[0-9a-f]{64}$/.test(path.basename(file)));
  const changed = blobs.filter(file => {
    const full = path.join(root, file);
    return statSync(full).isFile() && nodeHasher(readFileSync(full)) !== `sha256:${path.basename(file)}`;
  });
  if (changed.length === 0) return passed('blobs', `${blobs.length}, each matching its name`);
  return failed('blobs', `${listed(changed.map(file => path.basename(file)))} do not match their names`, RESTORE);
}

function checkSessions(dataDir: string): Check {
  const root = path.join(dataDir, 'sessions');
  const sessions = existsSync(root)
    ? readdirSync(root).filter(name => existsSync(path.join(root, name, 'manifest.jsonl')))
    : [];
  const wrong = sessions.flatMap(name => {
    const verified = verifyDirectory(path.join(root, name));
    if (!verified.ok) return [`${name}: ${verified.error.message}`];
    return verified.value.ok ? [] : [`${name}: ${verified.value.defect?.reason ?? verified.value.health}`];
  });
  if (wrong.length === 0) return passed('sessions', `${sessions.length}, each matching its journal`);
  return failed('sessions', listed(wrong), RESTORE);
}

function listed(names: readonly string[]): string {
  const rest = names.length - SHOWN;
  return `${names.slice(0, SHOWN).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
}
