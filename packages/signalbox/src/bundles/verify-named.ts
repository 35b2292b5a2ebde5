import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { namesId } from '@signalbox/app';
import { findPlanRun, guidedInstead } from '@signalbox/app/all-runs';
import {
  type BundleReport,
  defectWords,
  drainUnowned,
  type ErrorEnvelope,
  openReader,
  type ProjectReport,
  type RunReport,
  runId,
  verifyBundle,
  verifyProject,
  verifyRun,
} from '@signalbox/app/host';
import { askedDataDirectory, type DataFlags } from '../data-directory-option.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-code.ts';
import { targetOf } from '../guided/guided-target.ts';
import { type Paint, paintOf, reportError, shown, type Terminal } from '../terminal.ts';
import { withReader } from '../with-reader.ts';

export interface VerifyNamedFlags extends DataFlags {
  readonly expectHead?: string | undefined;
}

/** Checks an exported file, or a run by its id. Returns false if the argument is neither. */
export async function verifyNamed(
  terminal: Terminal,
  given: string,
  flags: VerifyNamedFlags,
): Promise<ExitCode | false> {
  const { json = false, expectHead } = flags;
  if (statSync(given, { throwIfNoEntry: false })?.isFile() === true) {
    const verified = await verifyBundle(given, expectHead);
    if (!verified.ok) {
      reportError(terminal, verified.error, json);
      return exitCodeOf(verified.error);
    }
    terminal.print(json ? JSON.stringify(verified.value) : describeBundle(verified.value, paintOf(terminal)));
    return verified.value.ok ? exitCodes.done : exitCodes.failed;
  }
  if (existsSync(given) || (await targetOf(flags.dataDir, given)).kind !== 'run') return false;
  if (!/^[0-9a-f-]{4,36}$|^@/.test(given) && !(await isRunName(flags, given))) return false;
  return withReader(terminal, flags, async (reader): Promise<ExitCode | ErrorEnvelope> => {
    const projects = reader.projects().filter(({ id }) => namesId(id, given));
    if (projects.length === 1 && projects[0] !== undefined) {
      const checked = await verifyProject(askedDataDirectory(flags.dataDir), projects[0].id, expectHead);
      if (!checked.ok) return checked.error;
      terminal.print(json ? JSON.stringify(checked.value) : describeProject(checked.value, paintOf(terminal)));
      return checked.value.ok ? exitCodes.done : exitCodes.failed;
    }
    // A run named by its full id is checked from its log, whatever the tables say.
    const parsed = runId.safeParse(given);
    const found = parsed.success ? parsed.data : await findPlanRun(reader, askedDataDirectory(flags.dataDir), given);
    if (typeof found !== 'string' && !found.ok) return found.error;
    const run = typeof found === 'string' ? found : found.value.id;
    const directory = askedDataDirectory(flags.dataDir);
    let report = await verifyRun(directory, run, expectHead);
    // If no process owns the data directory, nobody else will finish writing the journal.
    if (report.ok && report.value.ok && report.value.behind !== undefined && (await drainUnowned(directory, run)))
      report = await verifyRun(directory, run, expectHead);
    if (!report.ok) return guidedInstead(reader, directory, given, report.error);
    terminal.print(json ? JSON.stringify(report.value) : describeRunReport(report.value, paintOf(terminal)));
    return report.value.ok ? exitCodes.done : exitCodes.failed;
  });
}

/** A path that doesn't exist may be the name of runs. */
async function isRunName({ dataDir }: DataFlags, given: string): Promise<boolean> {
  const opened = openReader({ path: path.join(askedDataDirectory(dataDir), 'db.sqlite') });
  if (!opened.ok) return false;
  try {
    return (await opened.value.runs({ name: given, limit: 1 })).items.length > 0;
  } finally {
    opened.value.close();
  }
}

function describeRunReport(report: RunReport, paint: Paint): string {
  const { ok, run, records, events, head, defects = [], journal, behind, taken = [] } = report;
  const isLogWhole = !defects.some(({ where }) => where === 'log');
  return [
    ...(ok
      ? [paint.good('✓ the run matches its commits')]
      : defects.map(defect => paint.bad(`✗ ${shown(defectWords(defect))}`))),
    `  run       ${run}`,
    `  records   ${records}${isLogWhole ? '' : ' valid, from the start'}`,
    `  events    ${events}`,
    `  head      ${head}`,
    ...taken.map(one => paint.doubtful(takenWords(one))),
    ...(journal === undefined
      ? isLogWhole && behind !== undefined
        ? ['  journal   not written yet']
        : []
      : [
          `  journal   ${journal.health}, ${counted(journal.events, 'record')} in ${counted(journal.segments, 'segment')}` +
            (behind === undefined ? '' : `; ${counted(behind, 'record')} not written yet`),
        ]),
  ].join('\n');
}

function describeProject({ ok, project, records, head, defects = [] }: ProjectReport, paint: Paint): string {
  return [
    ...(ok
      ? [paint.good('✓ the project matches its commits')]
      : defects.map(defect => paint.bad(`✗ ${shown(defectWords(defect))}`))),
    `  project   ${project}`,
    `  records   ${records}`,
    `  head      ${head}`,
  ].join('\n');
}

function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}

/** Reports replaced records: which, by whom, and why. */
function takenWords({ kind, record, by, why, records, isLater }: NonNullable<RunReport['taken']>[number]): string {
  const word = kind === 'collapse' ? 'collapsed' : 'redacted ';
  const later = isLater === true ? ', after the expected head' : '';
  return `  ${word} records ${rangesOf(records)}, by ${shown(by)} (${shown(why)}), says record ${record}${later}`;
}

function rangesOf(numbers: readonly number[]): string {
  const ranges: [from: number, to: number][] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else ranges.push([number, number]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(', ') || 'none';
}

function describeBundle(report: BundleReport, paint: Paint): string {
  const { ok, bundle, bytes, exportedAt, runs, blobs, salvage = [], redacted, unexpected } = report;
  return [
    ok
      ? paint.good('✓ every part matches its digest')
      : paint.bad(`✗ ${shown(unexpected ?? 'what is left of a damaged run')}`),
    `  bundle    ${bundle}, ${bytes} bytes, exported ${exportedAt}`,
    ...runs.map(
      ({ id, name, status, events, frames }) =>
        `  run       ${id}  ${shown(name)}  ${status}, ${frames} frames, ${events} events`,
    ),
    ...runs.flatMap(({ taken = [] }) => taken.map(one => paint.doubtful(takenWords(one)))),
    `  head      ${runs[0]?.head ?? ''}`,
    `  contents  ${blobs}`,
    ...(redacted === undefined ? [] : [paint.doubtful(`  redacted  secrets were removed from ${redacted} rows`)]),
    ...salvage.map(what => paint.bad(`  damaged   ${shown(what)}`)),
  ].join('\n');
}
