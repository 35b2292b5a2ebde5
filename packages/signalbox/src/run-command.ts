import { usageError } from '@signalbox/app';
import {
  type ErrorEnvelope,
  findRun,
  type Json,
  previewRun,
  type Result,
  type RunId,
  type StartRequest,
  thisMachine,
} from '@signalbox/app/runs';
import type { DefineCommand } from './command.ts';
import { ANY_DIRECTORY_OPTION, DATA_DIR_OPTION, type DataFlags, TRUST_OPTION } from './data-directory-option.ts';
import { asked } from './end-signals.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-code.ts';
import { followRun } from './follow-run.ts';
import { parseJson } from './json-argument.ts';
import { describeKept, keptSince } from './kept-report.ts';
import { type LimitFlags, limitOptions, limitsOf } from './limit-options.ts';
import { describePreview } from './preview-report.ts';
import { describeEnd, exitCodeOfEnd } from './run-report.ts';
import { summaryOf } from './run-summary.ts';
import { runViewOf } from './run-view.ts';
import type { RunSurface } from './surface/run-surface.ts';
import { withSurface } from './surface/with-surface.ts';
import { paintOf, reportError, type Terminal } from './terminal.ts';
import { debugTrace, fileTrace, type Trace } from './trace-report.ts';

interface RunFlags extends DataFlags, LimitFlags {
  readonly input?: string;
  readonly name?: string;
  readonly tag?: readonly string[];
  readonly correlationId?: string;
  readonly key?: string;
  readonly directory?: string;
  readonly anyDirectory?: boolean;
  readonly detach?: boolean;
  readonly dryRun?: boolean;
  readonly debug?: boolean;
  readonly trace?: string;
  readonly lint: boolean;
}

interface ResumeFlags extends DataFlags, LimitFlags {
  readonly useCurrent?: boolean;
  readonly trust?: boolean;
}

export const defineRun: DefineCommand = (command, { terminal, signals, launch, end }) => {
  limitOptions(command)
    .description(
      'Runs a plan. Every step is committed before it is told, so a run that was cut off goes on with "signalbox resume". ' +
        'Ctrl-C, SIGTERM and SIGHUP pause the run and roll back tool calls under way; a second one ends the program at once. Where ' +
        'another process owns the data directory, the run is done there and followed here.',
    )
    .option('--input <json>', 'what the plan takes, as JSON')
    .option('--name <name>', 'what to call the run, instead of the name of the plan')
    .option('--tag <tag...>', 'words to find it by')
    .option('--correlation-id <id>', 'what it belongs to elsewhere')
    .option('--key <key>', 'start it once: a second call with the same key follows the first one')
    .option('--directory <dir>', 'where agents work, instead of the folder of the plan')
    .option(...ANY_DIRECTORY_OPTION)
    .option('--detach', 'start it where another process owns the data directory, and do not follow it')
    .option('--dry-run', 'show what the plan would do first, and do nothing')
    .option('--no-lint', 'do not look at the plan before it runs')
    .option('--debug', 'say for each phase of each frame what it did, and keep volatile state with the frames')
    .option('--trace <file>', 'write the phases of all frames into a file, one line of JSON each')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print every event as one line of JSON, then how it ended')
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox run hello.tsx
  $ signalbox run fix.tsx --input '{"issue": 42}' --tag nightly --max-cost 2

Exit codes: 0 completed or paused, 1 failed, stopped or stalled, 2 usage, 3 waiting for a person, 4 refused,
128+n paused because of signal n: 130 for Ctrl-C, 143 for SIGTERM, 129 for SIGHUP.`,
    )
    .action(async (plan: string, flags: RunFlags) => {
      const request = requestOf(plan, flags);
      if (!request.ok) {
        reportError(terminal, request.error, flags.json ?? false);
        return end(exitCodes.usage);
      }
      if (flags.lint) {
        const { lintBeforeRun } = await import('./lint/lint-before-run.ts');
        const refused = lintBeforeRun(terminal, plan);
        if (refused !== undefined) {
          reportError(terminal, refused, flags.json ?? false);
          return end(exitCodeOf(refused));
        }
      }
      if (flags.dryRun === true) return end(await preview(terminal, request.value, flags.json ?? false));
      const ending = signals.ending();
      end(
        await withSurface(
          terminal,
          { ...flags, ...tracing(terminal, flags), warm: true, ...(launch && { launch }) },
          async surface => {
            if (isTraced(flags) && !surface.isOwner) return notTraced();
            if (flags.detach === true) return detached(terminal, surface, request.value, flags.json ?? false);
            return followed(terminal, flags, surface, 0, () => surface.start(request.value), ending);
          },
        ),
      );
    });
};

export const defineResume: DefineCommand = (command, { terminal, signals, launch, end }) => {
  limitOptions(command)
    .description(
      'Goes on where the last commit left the run. What was committed is not done again. The plan is the one that the run ' +
        'went on with last: its files are kept with it. To go on after correcting the plan, use --use-current. Limits that are ' +
        'given take the place of those that the run has.',
    )
    .option('--use-current', 'go on with the plan as its files are now, and keep them as another version')
    .option(...TRUST_OPTION)
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print every event as one line of JSON, then how it ended')
    .addHelpText(
      'after',
      '\nExamples:\n  $ signalbox resume 019b8d62\n  $ signalbox resume 019b8d62 --max-tokens 200000',
    )
    .action(async (given: string, flags: ResumeFlags) => {
      const ending = signals.ending();
      const limits = limitsOf(flags);
      if (!limits.ok) {
        reportError(terminal, limits.error, flags.json ?? false);
        return end(exitCodes.usage);
      }
      end(
        await withSurface(terminal, { ...flags, warm: true, ...(launch && { launch }) }, async surface => {
          const record = await findRun(surface.reader, given);
          if (!record.ok) return record.error;
          const { id, nextSeq } = record.value;
          const { useCurrent = false, trust } = flags;
          const resume = () => surface.resume(id, { useCurrent, trust, limits: limits.value });
          return followed(terminal, flags, surface, nextSeq, resume, ending);
        }),
      );
    });
};

async function preview(terminal: Terminal, { file, input }: StartRequest, json: boolean): Promise<ExitCode> {
  const shown = await previewRun(file, input, thisMachine());
  if (!shown.ok) {
    reportError(terminal, shown.error, json);
    return exitCodeOf(shown.error);
  }
  terminal.print(json ? JSON.stringify(shown.value) : describePreview(shown.value, paintOf(terminal)));
  return exitCodes.done;
}

function isTraced({ debug = false, trace }: RunFlags): boolean {
  return debug || trace !== undefined;
}

/** Where the phases of frames are told. */
function tracing(terminal: Terminal, flags: RunFlags): { readonly trace: Trace | undefined } {
  if (!isTraced(flags)) return { trace: undefined };
  const { debug = false, trace } = flags;
  const traces = [
    ...(debug ? [debugTrace(terminal, paintOf(terminal))] : []),
    ...(trace === undefined ? [] : [fileTrace(trace)]),
  ];
  return {
    trace: (run, entry) => {
      for (const tell of traces) tell(run, entry);
    },
  };
}

function notTraced(): ErrorEnvelope {
  return usageError(
    '--debug and --trace look into the process that drives the run, and another one owns the data directory.',
    'End that process first, or use another data directory: --data-dir.',
  );
}

const LISTEN_AFTER_MS = 1000;

/** Begins, follows, and says how it ended. */
export async function followed(
  terminal: Terminal,
  { json = false }: DataFlags,
  surface: RunSurface,
  from: number,
  begin: () => Promise<Result<RunId, ErrorEnvelope>>,
  ending: AbortSignal,
): Promise<ExitCode | ErrorEnvelope> {
  const since = new Date(thisMachine().clock.now()).toISOString();
  let listening: Promise<unknown> | undefined;
  // A run that is over in a moment need not be spoken to.
  const patience = setTimeout(() => {
    listening = surface.listen();
  }, LISTEN_AFTER_MS);
  const view = (run: RunId) => runViewOf(terminal, surface.reader, run, json);
  const followed = await followRun(surface, from, begin, view, ending);
  clearTimeout(patience);
  await listening;
  if (!followed.ok) return followed.error;
  const { id, status, output, error, stopReason } = followed.value;
  const kept = await keptSince(surface, id, since);
  if (!json) for (const line of describeKept(kept)) terminal.print(line);
  terminal.print(
    json
      ? JSON.stringify({ run: id, end: { status, output, error, stopReason }, ...(kept.length > 0 && { kept }) })
      : describeEnd(followed.value, await summaryOf(surface.reader, followed.value), paintOf(terminal)),
  );
  const others = surface.othersRested(count => {
    if (ending.aborted) return;
    terminal.complain(
      `${count} more ${count === 1 ? 'run goes' : 'runs go'} on in this process. Ctrl-C pauses what runs.`,
    );
  });
  await Promise.race([others, asked(ending)]);
  return exitCodeOfEnd(status);
}

/** A run needs a process that drives it; this one is about to end. */
async function detached(
  terminal: Terminal,
  surface: RunSurface,
  request: StartRequest,
  json: boolean,
): Promise<ExitCode | ErrorEnvelope> {
  if (surface.isOwner) {
    return usageError(
      '--detach needs a process that goes on: nothing owns the data directory.',
      'Start one with "signalbox serve", or leave --detach out.',
    );
  }
  const started = await surface.start(request);
  if (!started.ok) return started.error;
  terminal.print(json ? JSON.stringify({ run: started.value }) : started.value);
  return exitCodes.done;
}

function requestOf(file: string, flags: RunFlags): Result<StartRequest, ErrorEnvelope> {
  const { name, tag: tags, correlationId, key: idempotencyKey, directory, anyDirectory } = flags;
  const input = flags.input === undefined ? { ok: true as const, value: {} as Json } : parseJson(flags.input);
  if (!input.ok) {
    return {
      ok: false,
      error: usageError('--input is not JSON.', `Quote it for your shell: --input '{"key": "value"}'.`),
    };
  }
  const limits = limitsOf(flags);
  if (!limits.ok) return limits;
  return {
    ok: true,
    value: {
      file,
      input: input.value,
      name,
      tags,
      correlationId,
      idempotencyKey,
      directory,
      anyDirectory,
      limits: limits.value,
    },
  };
}
