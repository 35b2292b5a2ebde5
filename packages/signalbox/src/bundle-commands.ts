import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { type ErrorEnvelope, usageError } from '@signalbox/app';
import { configOf, exportSession, importSession, MAX_BUNDLE_BYTES, readAppliedConfig } from '@signalbox/app/guided';
import { thisMachine } from '@signalbox/app/runs';
import manifest from '../package.json' with { type: 'json' };
import type { DefineCommand } from './command.ts';
import { DATA_DIR_OPTION, type DataFlags } from './data-directory-option.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-code.ts';
import { targetOf } from './guided/guided-target.ts';
import { reportError } from './terminal.ts';
import { askedDataDirectory, cannotMake, workflowPlaces } from './workflow/workflow-places.ts';

interface ExportFlags extends DataFlags {
  readonly output?: string;
}

/** A bundle is one file, whatever it is of: the id says what is exported, the file what is imported. */
export const defineExport: DefineCommand = (command, { terminal, end, calledAs }) => {
  command
    .description(
      'Writes a guided session into one file: its journal, snapshots, pinned workflows and artifacts, each with its digest, and no tokens. ' +
        'Elsewhere "signalbox import" takes it in, and an agent can go on with it.',
    )
    .option('-o, --output <file>', 'the file to write, instead of standard output; one that is there is replaced')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'with --output: print what was written as JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox export 019b8d62 -o review.json     the beginning of an id is enough
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
    if (target.kind === 'run') {
      return usageError(`There is no guided session ${given}.`, `See "${calledAs} sessions".`);
    }
    const dataDirectory = askedDataDirectory(flags.dataDir);
    const { clock } = thisMachine();
    const appVersion = manifest.version;
    const appliedConfigHash =
      readAppliedConfig(dataDirectory)?.appliedConfigHash ?? configOf(appVersion, workflowPlaces()).hash;
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

export const defineImport: DefineCommand = (command, { terminal, end, calledAs }) => {
  command
    .description(
      'Takes in what "signalbox export" wrote: whole, or not at all. Where its id is taken it comes in as new, with other ids, and what is ' +
        'there stays as it is. Agents get tokens for it with the tool resume_session.',
    )
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print what came in as JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox import review.json
  $ gunzip -c review.json.gz | signalbox import -

Exit codes: 0 done, 1 failed or refused as damaged, 2 usage.`,
    )
    .action(async (file: string, flags: DataFlags) => {
      const outcome = await imported(file, flags);
      if (typeof outcome === 'number') return end(outcome);
      reportError(terminal, outcome, flags.json ?? false);
      end(exitCodeOf(outcome));
    });

  async function imported(file: string, flags: DataFlags): Promise<ExitCode | ErrorEnvelope> {
    const text = readBundleFile(file);
    if (typeof text !== 'string') return text;
    const dataDirectory = askedDataDirectory(flags.dataDir);
    const refused = cannotMake(dataDirectory);
    if (refused !== undefined) return refused;
    const { clock, ids } = thisMachine();
    const arrived = await importSession({ dataDirectory, clock, ids }, text);
    if (!arrived.ok) return arrived.error;
    const { sessionId, isNew, events } = arrived.value;
    terminal.print(
      flags.json
        ? JSON.stringify(arrived.value)
        : `Session ${sessionId}, ${events} events${isNew ? `; it came in as new, because ${arrived.value.exportedAs} is here` : ''}.\n` +
            `See it with: ${calledAs} show ${sessionId}`,
    );
    return exitCodes.done;
  }
};

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
