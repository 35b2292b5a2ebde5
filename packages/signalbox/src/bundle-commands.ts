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
import { isContainer, thisMachine } from '@signalbox/app/host';
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

/** One pair of commands for runs and guided sessions: the id decides what is exported, the file what is imported. */
export const defineExport: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Writes a whole run or guided session to one file, each part with its digest, without tokens or secrets. Elsewhere, continue it after ' +
        '"signalbox import"; "signalbox replay FILE --verify" checks a run without importing it.',
    )
    .option(
      '-o, --output <file>',
      'the file to write or replace; default: RUN.bundle, or standard output for a session',
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
      terminal.complain(`The session is damaged (${rest.salvage}): only its valid part was exported, marked as such.`);
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
      'Imports a file from "signalbox export", all or nothing. A run becomes a new run that records its origin; a guided session ' +
        'where its id is taken. What is there stays as it is. Agents get tokens for a session with the tool resume_session.',
    )
    .option('--directory <dir>', "new working directory for the run's agents")
    .option(...ANY_DIRECTORY_OPTION)
    .option('--trust', "trust the run's author: its plan may run as your own code")
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print what was imported as JSON')
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
        : `Session ${sessionId}, ${events} events${isNew ? `; imported as new, because ${arrived.value.exportedAs} already exists` : ''}.\n` +
            `See it with: signalbox show ${sessionId}`,
    );
    return exitCodes.done;
  }
};

/** Replaces the error for a file that is not even JSON, which a session's bundle is. */
function notABundle(file: string, error: ErrorEnvelope): ErrorEnvelope {
  const named = file === '-' ? 'Standard input' : file;
  return { ...error, message: `${named} is not a bundle: neither a run nor a guided session.` };
}

/** Run bundles begin with bytes that no text begins with. */
async function isRunBundle(file: string): Promise<boolean> {
  const isFile = file !== '-' && (statSync(file, { throwIfNoEntry: false })?.isFile() ?? false);
  return isFile && (await isContainer(file).catch(() => false));
}

/** The text of a file within the size limit, or of standard input for `-`. */
function readBundleFile(file: string): string | ErrorEnvelope {
  try {
    const handle = file === '-' ? 0 : openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stat = fstatSync(handle);
      if (file !== '-' && !stat.isFile())
        return usageError(`${file} is not a file.`, 'Give a file, or - for standard input.');
      if (stat.size > MAX_BUNDLE_BYTES) {
        return usageError(
          `${file} has ${stat.size} bytes; the limit is ${MAX_BUNDLE_BYTES}.`,
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

/** Writes atomically and readable only by the owner: the file contains agents' notes. */
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
