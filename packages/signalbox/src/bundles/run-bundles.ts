import { findPlanRun } from '@signalbox/app/all-runs';
import { type ErrorEnvelope, exportFrom, type ImportReport, type RunExport, thisMachine } from '@signalbox/app/host';
import manifest from '../../package.json' with { type: 'json' };
import { askedDataDirectory, type DataFlags } from '../data-directory-option.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import { withOwner } from '../owner/with-owner.ts';
import { type Paint, paintOf, shown, type Terminal } from '../terminal.ts';
import { withReader } from '../with-reader.ts';

/** Writes a run to a file, and prints a summary. */
export function exportRunTo(
  terminal: Terminal,
  flags: DataFlags & { readonly output?: string | undefined },
  given: string,
): Promise<ExitCode> {
  return withReader(terminal, flags, async (reader): Promise<ExitCode | ErrorEnvelope> => {
    const run = await findPlanRun(reader, askedDataDirectory(flags.dataDir), given);
    if (!run.ok) return run.error;
    const directory = askedDataDirectory(flags.dataDir);
    const file = flags.output ?? `${run.value.id}.bundle`;
    const facts = { clock: thisMachine().clock, appVersion: manifest.version, env: process.env };
    const written = await exportFrom(directory, run.value.id, file, facts);
    if (!written.ok) return written.error;
    terminal.print(flags.json ? JSON.stringify(written.value) : describeExport(written.value, paintOf(terminal)));
    return exitCodes.done;
  });
}

function describeExport(
  { run, runs, file, bytes, head, digest, salvage = [], redacted }: RunExport,
  paint: Paint,
): string {
  return [
    salvage.length === 0
      ? paint.good(`✓ ${shown(file)}`)
      : paint.doubtful(`! ${shown(file)}: the valid part of a damaged run`),
    `  run       ${run}${runs > 1 ? `, with ${runs - 1} of its sub-plans` : ''}`,
    `  head      ${head}`,
    `  bundle    ${digest}, ${bytes} bytes`,
    ...(redacted === undefined ? [] : [paint.doubtful(`  redacted  secrets were removed from ${redacted} rows`)]),
    ...salvage.map(what => paint.bad(`  damaged   ${shown(what)}`)),
  ].join('\n');
}

/** Imports a run as a new one, whichever process owns the data directory. */
export function importRunFrom(
  terminal: Terminal,
  flags: DataFlags & {
    readonly directory?: string | undefined;
    readonly anyDirectory?: boolean | undefined;
    readonly trust?: boolean | undefined;
  },
  file: string,
): Promise<ExitCode> {
  return withOwner(terminal, flags, async (owner): Promise<ExitCode | ErrorEnvelope> => {
    const imported = await owner.importRun({
      file,
      directory: flags.directory,
      anyDirectory: flags.anyDirectory,
      trust: flags.trust,
    });
    if (!imported.ok) return imported.error;
    terminal.print(
      flags.json
        ? JSON.stringify(imported.value)
        : describeImport(imported.value, flags.trust === true, paintOf(terminal)),
    );
    return exitCodes.done;
  });
}

function describeImport({ run, runs, from, bundle, packages }: ImportReport, isTrusted: boolean, paint: Paint): string {
  return [
    paint.good(`✓ run ${run}`),
    `  from      ${from.run}, head ${from.head}`,
    `  bundle    ${bundle}`,
    ...(runs > 1 ? [`  with      ${runs - 1} runs of its sub-plans`] : []),
    ...(packages.length === 0
      ? []
      : [`  needs     ${packages.map(({ name, version }) => `${name}@${version}`).join(' ')}`]),
    '',
    `  signalbox replay ${run.slice(0, 13)} --verify`,
    `  signalbox resume ${run.slice(0, 13)}${isTrusted ? '' : ' --trust      its plan is somebody else’s code: only if you trust its author'}`,
  ].join('\n');
}
