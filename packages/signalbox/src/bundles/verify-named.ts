import { existsSync, statSync } from 'node:fs';
import {
  type BundleReport,
  type ErrorEnvelope,
  findRun,
  type RunReport,
  verifyBundle,
  verifyRun,
} from '@signalbox/app/runs';
import { askedDataDirectory, type DataFlags } from '../data-directory-option.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-code.ts';
import { targetOf } from '../guided/guided-target.ts';
import { type Paint, paintOf, reportError, shown, type Terminal } from '../terminal.ts';
import { withReader } from '../with-reader.ts';

export interface VerifyNamedFlags extends DataFlags {
  readonly expectHead?: string | undefined;
}

/** Checks an exported file, or a run by its id. False where what was given is neither. */
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
  if (existsSync(given) || (await targetOf(flags.dataDir, given)).kind !== 'run' || !/^[0-9a-f-]{4,36}$/.test(given))
    return false;
  return withReader(terminal, flags, async (reader): Promise<ExitCode | ErrorEnvelope> => {
    const run = await findRun(reader, given);
    if (!run.ok) return run.error;
    const directory = askedDataDirectory(flags.dataDir);
    const report = await verifyRun(directory, run.value.id, expectHead);
    if (!report.ok) return report.error;
    terminal.print(json ? JSON.stringify(report.value) : describeRunReport(report.value, paintOf(terminal)));
    return report.value.ok ? exitCodes.done : exitCodes.failed;
  });
}

function describeRunReport({ ok, run, events, head, defect, journal }: RunReport, paint: Paint): string {
  return [
    ok
      ? paint.good('✓ the run is as it was written')
      : paint.bad(`✗ ${defect?.where ?? 'journal'}: ${shown(defect?.what ?? '')}`),
    `  run       ${run}`,
    `  events    ${events}${ok ? '' : ' valid, from the start'}`,
    `  head      ${head}`,
    ...(journal === undefined
      ? []
      : [`  journal   ${journal.health}, ${journal.events} events in ${journal.segments} segments`]),
  ].join('\n');
}

function describeBundle(report: BundleReport, paint: Paint): string {
  const { ok, bundle, bytes, exportedAt, runs, blobs, salvage = [], redacted, unexpected } = report;
  return [
    ok
      ? paint.good('✓ every part is as it was written')
      : paint.bad(`✗ ${shown(unexpected ?? 'what is left of a damaged run')}`),
    `  bundle    ${bundle}, ${bytes} bytes, exported ${exportedAt}`,
    ...runs.map(
      ({ id, name, status, events, frames }) =>
        `  run       ${id}  ${shown(name)}  ${status}, ${frames} frames, ${events} events`,
    ),
    `  head      ${runs[0]?.head ?? ''}`,
    `  contents  ${blobs}`,
    ...(redacted === undefined ? [] : [paint.doubtful(`  redacted  secrets were taken out of ${redacted} rows`)]),
    ...salvage.map(what => paint.bad(`  damaged   ${shown(what)}`)),
  ].join('\n');
}
