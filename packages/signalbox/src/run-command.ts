import { usageError } from '@signalbox/app';
import { findPlanRun, LAST } from '@signalbox/app/all-runs';
import {
  type ErrorEnvelope,
  type Json,
  previewRun,
  type Result,
  type RunId,
  type StartRequest,
  thisMachine,
} from '@signalbox/app/host';
import type { DefineCommand } from './command.ts';
import {
  ANY_DIRECTORY_OPTION,
  askedDataDirectory,
  DATA_DIR_OPTION,
  type DataFlags,
  TRUST_OPTION,
} from './data-directory-option.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-code.ts';
import { followRun } from './follow-run.ts';
import { parseJson } from './json-argument.ts';
import { describeKept, keptSince } from './kept-report.ts';
import { type LimitFlags, limitOptions, limitsOf } from './limit-options.ts';
import { othersRested } from './owner/others-rested.ts';
import type { RunOwner } from './owner/run-owner.ts';
import { withOwner } from './owner/with-owner.ts';
import { describePreview } from './preview-report.ts';
import { describeEnd, exitCodeOfEnd } from './run-report.ts';
import { summaryOf } from './run-summary.ts';
import { runViewOf } from './run-view.ts';
import { paintOf, reportError, type Terminal } from './terminal.ts';
import { placeStyle } from './thrown-report.ts';
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
      'Runs a plan. Every step is committed before it is reported, so "signalbox resume" continues a run that was cut off. ' +
        'Ctrl-C, SIGTERM and SIGHUP pause the run and roll back tool calls under way; a second one exits immediately. If ' +
        'another process owns the data directory, the run executes there and is followed here.',
    )
    .option('--input <json>', "the plan's input, as JSON")
    .option('--name <name>', "name of the run; default: the plan's name")
    .option('--tag <tag...>', 'tags to find it by')
    .option('--correlation-id <id>', 'id that links the run to another system')
    .option('--key <key>', 'start once: a second call with the same key follows the first run')
    .option('--directory <dir>', "working directory of agents; default: the plan's folder")
    .option(...ANY_DIRECTORY_OPTION)
    .option('--detach', 'start the run in the process that owns the data directory, without following it')
    .option('--dry-run', 'show what the plan would do first, without doing it')
    .option('--no-lint', 'do not lint the plan first')
    .option('--debug', 'print every phase of every frame, and keep volatile state with the frames')
    .option('--trace <file>', 'write the phases of all frames to a file, one JSON object per line')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print every event as one line of JSON, then the result')
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
        await withOwner(
          terminal,
          { ...flags, ...tracing(terminal, flags), warm: true, ...(launch && { launch }) },
          async owner => {
            if (isTraced(flags) && !owner.isLocal) return notTraced();
            if (flags.detach === true) return detached(terminal, owner, request.value, flags.json ?? false);
            return followed(terminal, flags, owner, 0, () => owner.start(request.value), ending);
          },
        ),
      );
    });
};

export const defineResume: DefineCommand = (command, { terminal, signals, launch, end }) => {
  limitOptions(command)
    .description(
      'Continues a run from its last commit, without repeating committed work. It uses the plan files stored with the run; to ' +
        'continue with a corrected plan, pass --use-current. Limits given here replace those of the run.',
    )
    .option('--use-current', 'continue with the current plan files, stored as a new version')
    .option(...TRUST_OPTION)
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print every event as one line of JSON, then the result')
    .addHelpText(
      'after',
      '\nExamples:\n  $ signalbox resume 019b8d62\n  $ signalbox resume 019b8d62 --max-tokens 200000',
    )
    .action(async (given: string | undefined, flags: ResumeFlags) => {
      const ending = signals.ending();
      const limits = limitsOf(flags);
      if (!limits.ok) {
        reportError(terminal, limits.error, flags.json ?? false);
        return end(exitCodes.usage);
      }
      end(
        await withOwner(terminal, { ...flags, warm: true, ...(launch && { launch }) }, async owner => {
          const record = await findPlanRun(owner.reader, askedDataDirectory(flags.dataDir), given ?? LAST);
          if (!record.ok) return record.error;
          const { id, nextSeq } = record.value;
          const { useCurrent = false, trust } = flags;
          const resume = () => owner.resume(id, { useCurrent, trust, limits: limits.value });
          return followed(terminal, flags, owner, nextSeq, resume, ending);
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

/** Where frame phases are reported. */
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
    '--debug and --trace need to drive the run in this process, but another one owns the data directory.',
    'End that process first, or use another data directory with --data-dir.',
  );
}

const LISTEN_AFTER_MS = 1000;

/** Starts a run, follows it, and reports the result. */
export async function followed(
  terminal: Terminal,
  { json = false, dataDir }: DataFlags,
  owner: RunOwner,
  from: number,
  begin: () => Promise<Result<RunId, ErrorEnvelope>>,
  ending: AbortSignal,
): Promise<ExitCode | ErrorEnvelope> {
  const style = placeStyle(terminal, dataDir);
  const since = new Date(thisMachine().clock.now()).toISOString();
  let listening: Promise<unknown> | undefined;
  // A run that ends quickly needs no server.
  const patience = setTimeout(() => {
    listening = owner.listen();
  }, LISTEN_AFTER_MS);
  const view = (run: RunId) => runViewOf(terminal, owner.reader, run, json, style);
  const followed = await followRun(owner, from, begin, view, ending);
  clearTimeout(patience);
  await listening;
  if (!followed.ok) return followed.error;
  const { id, status, output, error, stopReason } = followed.value;
  const kept = await keptSince(owner, id, since);
  if (!json) for (const line of describeKept(kept)) terminal.print(line);
  terminal.print(
    json
      ? JSON.stringify({ run: id, end: { status, output, error, stopReason }, ...(kept.length > 0 && { kept }) })
      : describeEnd(followed.value, await summaryOf(owner.reader, followed.value), style),
  );
  await othersRested(terminal, owner, ending);
  return exitCodeOfEnd(status);
}

/** A run needs a process that drives it, and this one is about to exit. */
async function detached(
  terminal: Terminal,
  owner: RunOwner,
  request: StartRequest,
  json: boolean,
): Promise<ExitCode | ErrorEnvelope> {
  if (owner.isLocal) {
    return usageError(
      '--detach needs a running server: no process owns the data directory.',
      'Start one with "signalbox serve", or omit --detach.',
    );
  }
  const started = await owner.start(request);
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
