import { statSync } from 'node:fs';
import { findPlanRun } from '@signalbox/app/all-runs';
import {
  type ErrorEnvelope,
  openBundle,
  type Reader,
  type ReplayVerdict,
  type Result,
  type RunId,
  type RunRecord,
  thisMachine,
  verifyBundleReplay,
  verifyRunReplay,
} from '@signalbox/app/host';
import type { DefineCommand } from '../command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from '../data-directory-option.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-code.ts';
import { paintOf, reportError, type Terminal } from '../terminal.ts';
import { withReader } from '../with-reader.ts';
import { printFrames } from './frame-story.ts';
import { describeVerdict } from './replay-report.ts';

interface ReplayFlags extends DataFlags {
  readonly verify?: boolean;
  readonly plan?: string;
  readonly trust?: boolean;
}

export const defineReplay: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Shows a run from the data directory or from an exported file, frame by frame, without running anything. With --verify, its ' +
        'frames are reproduced from the record: no task or effect runs, no key or network is used, and every frame must match its ' +
        'recorded hash. The plan of an exported file or an imported run is somebody else’s code: it runs in a process without network, ' +
        'without your files and with nowhere to write, or not at all. To do new work from a frame, see "signalbox fork".',
    )
    .option('--verify', 'reproduce every frame and compare hashes')
    .option('--plan <file>', "with --verify: use this plan instead of the run's own plan files")
    .option('--trust', 'with --verify: trust the author, and run the plan of a file or an imported run unconfined')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print it as JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox replay 019b8d62
  $ signalbox replay 019b8d62 --verify
  $ signalbox replay release.bundle --verify --json
  $ signalbox replay release.bundle --verify --plan plan.tsx     does the current plan still make the same frames?

Exit codes: 0 shown, or every frame was reproduced; 1 a frame differed or could not be verified; 2 usage.`,
    )
    .action(async (given: string, flags: ReplayFlags) => {
      const isFile = isThere(given);
      if (flags.verify === true) return end(await verify(terminal, flags, given, isFile));
      end(await (isFile ? viewFile(terminal, flags, given) : viewRun(terminal, flags, given)));
    });
};

async function verify(terminal: Terminal, flags: ReplayFlags, given: string, isFile: boolean): Promise<ExitCode> {
  const { json = false, plan, trust } = flags;
  const options = { machine: thisMachine(), plan, trust };
  const tell = (verdict: Result<ReplayVerdict, ErrorEnvelope>): ExitCode => {
    if (!verdict.ok) {
      reportError(terminal, verdict.error, json);
      return exitCodeOf(verdict.error);
    }
    terminal.print(json ? JSON.stringify(verdict.value) : describeVerdict(verdict.value, paintOf(terminal)));
    return verdict.value.ok ? exitCodes.done : exitCodes.failed;
  };
  if (isFile) return tell(await verifyBundleReplay(given, options));
  return withReader(terminal, flags, async reader => {
    const run = await findPlanRun(reader, askedDataDirectory(flags.dataDir), given);
    return run.ok ? tell(await verifyRunReplay(askedDataDirectory(flags.dataDir), run.value.id, options)) : run.error;
  });
}

function viewRun(terminal: Terminal, flags: ReplayFlags, given: string): Promise<ExitCode> {
  return withReader(terminal, flags, async (reader): Promise<ExitCode | ErrorEnvelope> => {
    const run = await findPlanRun(reader, askedDataDirectory(flags.dataDir), given);
    if (!run.ok) return run.error;
    return view(terminal, flags, reader, run.value.id);
  });
}

async function viewFile(terminal: Terminal, flags: ReplayFlags, file: string): Promise<ExitCode> {
  const bundle = await openBundle(file);
  if (!bundle.ok) {
    reportError(terminal, bundle.error, flags.json ?? false);
    return exitCodeOf(bundle.error);
  }
  try {
    return await view(terminal, flags, bundle.value.archive, bundle.value.run);
  } finally {
    bundle.value.close();
  }
}

async function view(
  terminal: Terminal,
  { json = false }: ReplayFlags,
  reader: Omit<Reader, 'get'>,
  run: RunId,
): Promise<ExitCode> {
  const record: RunRecord | undefined = await reader.run(run);
  if (record !== undefined) await printFrames(terminal, reader, record, json);
  return exitCodes.done;
}

function isThere(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}
