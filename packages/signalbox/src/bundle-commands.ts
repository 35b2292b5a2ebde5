import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { type ErrorEnvelope, usageError } from '@signalbox/app';
import {
  configOf,
  exportSession,
  guidedPreferences,
  importSession,
  MAX_BUNDLE_BYTES,
  readAppliedConfig,
} from '@signalbox/app/guided';
import { isContainer, thisMachine } from '@signalbox/app/runs';
import manifest from '../package.json' with { type: 'json' };
import { exportRunTo, importRunFrom } from './bundles/run-bundles.ts';
import type { DefineCommand } from './command.ts';
import {
  ANY_DIRECTORY_OPTION,
  askedDataDirectory,
  DATA_DIR_OPTION,
  type DataFlags,
  writableDataDirectory,
} from './data-directory-option.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-code.ts';
import { targetOf } from './guided/guided-target.ts';
import { reportError } from './terminal.ts';
import { workflowPlaces } from './workflow/workflow-places.ts';

interface ExportFlags extends DataFlags {
  readonly output?: string;
}

interface ImportFlags extends DataFlags {
  readonly directory?: string;
  readonly anyDirectory?: boolean;
  readonly trust?: boolean | undefined;
}

/** A bundle is one file, whatever it is of: the id says what is exported, the file what is imported. */
export const defineExport: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Writes a run, or a guided session, into one file with everything that it is, each part with its digest, and no tokens or secrets. ' +
        'Elsewhere "signalbox import" takes it in and it goes on there; "signalbox replay FILE --verify" checks a run where it is.',
    )
    .option(
      '-o, --output <file>',
      'the file to write; one that is there is replaced. Else RUN.bundle, and standard output for a session',
    )
    .option(...DATA_DIR_OPTION)
    .option('--json', 'with --output: print what was written as JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox export 019b8d62 -o release.bundle  a run; the beginning of an id is enough
  $ signalbox export 019c1a30 -o review.json     a guided session
  $ signalbox export 019b8d62 | gzip > review.json.gz

Exit codes: 0 done, 1 failed, 2 usage.`,
    )
    .action(async (given: string, flags: ExportFlags) => {
      const outcome = await exported(given, flags);
      if (typeof outcome === 'number') return end(outcome);
      reportError(terminal, outcome, flags.json ?? false);
      end(exitCodeOf(outcome));
    });

  async function exported(given: string, flags: ExportFlags): Promise<ExitCode | ErrorEnvelope> {
    const target = await targetOf(flags.dataDir, given);
    if (target.kind === 'refused') return target.error;
    if (target.kind === 'run') return exportRunTo(terminal, flags, given);
    const dataDirectory = askedDataDirectory(flags.dataDir);
    const { clock } = thisMachine();
    const appVersion = manifest.version;
    const appliedConfigHash =
      readAppliedConfig(dataDirectory)?.appliedConfigHash ??
      configOf(appVersion, workflowPlaces(), guidedPreferences(dataDirectory)).hash;
    const bundle = exportSession({ dataDirectory, clock, appVersion, appliedConfigHash }, target.sessionId);
    if (!bundle.ok) return bundle.error;
    const { text, ...rest } = bundle.value;
    if (rest.salvage !== undefined) {
      terminal.complain(`The session is damaged (${rest.salvage}): this is its valid part, and says so.`);
    }
    if (flags.output === undefined) terminal.print(text);
    else {
      const refused = writeWhole(flags.output, `${text}\n`);
      if (refused !== undefined) return refused;
      const written = { ...rest, file: path.resolve(flags.output), bytes: Buffer.byteLength(text) + 1 };
      terminal.print(
        flags.json
          ? JSON.stringify(written)
          : `${written.file}  ${written.events} events, ${written.artifacts} artifacts, ${written.bytes} bytes`,
      );
    }
    return exitCodes.done;
  }
};

export const defineImport: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Takes in what "signalbox export" wrote: whole, or not at all. A run comes in as a new one, which says where it is from; a guided session ' +
        'where its id is taken. What is there stays as it is. Agents get tokens for a session with the tool resume_session.',
    )
    .option('--directory <dir>', "where a run's agents work from now on, instead of where they worked before")
    .option(...ANY_DIRECTORY_OPTION)
    .option('--trust', 'the author of the run is trusted: its plan may be run as your own')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print what came in as JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox import release.bundle
  $ signalbox import review.json
  $ gunzip -c review.json.gz | signalbox import -

Exit codes: 0 done, 1 failed or refused as damaged, 2 usage.`,
    )
    .action(async (file: string, flags: ImportFlags) => {
      const outcome = await imported(file, flags);
      if (typeof outcome === 'number') return end(outcome);
      reportError(terminal, outcome, flags.json ?? false);
      end(exitCodeOf(outcome));
    });

  async function imported(file: string, flags: ImportFlags): Promise<ExitCode | ErrorEnvelope> {
    if (await isRunBundle(file)) return importRunFrom(terminal, flags, file);
    const text = readBundleFile(file);
    if (typeof text !== 'string') return text;
    const dataDirectory = writableDataDirectory(flags.dataDir);
    const { clock, ids } = thisMachine();
    const arrived = await importSession({ dataDirectory, clock, ids }, text);
    if (!arrived.ok) return text.trimStart().startsWith('{') ? arrived.error : notABundle(file, arrived.error);
    const { sessionId, isNew, events } = arrived.value;
    terminal.print(
      flags.json
        ? JSON.stringify(arrived.value)
        : `Session ${sessionId}, ${events} events${isNew ? `; it came in as new, because ${arrived.value.exportedAs} is here` : ''}.\n` +
            `See it with: signalbox show ${sessionId}`,
    );
    return exitCodes.done;
  }
};

/** Says so of a file that is not even JSON, as a session's bundle is. */
function notABundle(file: string, error: ErrorEnvelope): ErrorEnvelope {
  const named = file === '-' ? 'Standard input' : file;
  return { ...error, message: `${named} is not a bundle: neither a run nor a guided session.` };
}

/** Bundles of runs begin as no text does. */
async function isRunBundle(file: string): Promise<boolean> {
  const isFile = file !== '-' && (statSync(file, { throwIfNoEntry: false })?.isFile() ?? false);
  return isFile && (await isContainer(file).catch(() => false));
}

/** The text of a file that is not too large, or of standard input for `-`. */
function readBundleFile(file: string): string | ErrorEnvelope {
  try {
    const handle = file === '-' ? 0 : openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stat = fstatSync(handle);
      if (file !== '-' && !stat.isFile())
        return usageError(`${file} is not a file.`, 'Give a file, or - for standard input.');
      if (stat.size > MAX_BUNDLE_BYTES) {
        return usageError(
          `${file} has ${stat.size} bytes, the most is ${MAX_BUNDLE_BYTES}.`,
          'Give a file that "export" wrote.',
        );
      }
      return readFileSync(handle, 'utf8');
    } finally {
      if (handle !== 0) closeSync(handle);
    }
  } catch (cause) {
    return usageError(`${file} cannot be read: ${reasonOf(cause)}.`, 'Give a file that "signalbox export" wrote.');
  }
}

/** The whole file or the one that was there before, and for its owner alone: it holds what agents noted. */
function writeWhole(file: string, text: string): ErrorEnvelope | undefined {
  const temporary = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}.tmp`);
  try {
    const handle = openSync(temporary, 'wx', 0o600);
    try {
      writeFileSync(handle, text);
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    renameSync(temporary, file);
    return undefined;
  } catch (cause) {
    rmSync(temporary, { force: true });
    return usageError(`${file} cannot be written: ${reasonOf(cause)}.`, 'Give another file with --output.');
  }
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
}
