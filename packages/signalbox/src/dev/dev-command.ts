import path from 'node:path';
import { usageError } from '@signalbox/app';
import type { ErrorEnvelope, Json } from '@signalbox/app/host';
import type { CommandContext, DefineCommand } from '../command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, namedDataDirectory } from '../data-directory-option.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-code.ts';
import { parseJson } from '../json-argument.ts';
import { openBrowser } from '../serving/open-browser.ts';
import { openServing } from '../serving/open-serving.ts';
import { reportError } from '../terminal.ts';
import { developPlan } from './dev-session.ts';

interface DevFlags {
  readonly input?: string;
  readonly real?: boolean;
  readonly run?: boolean;
  readonly open?: boolean;
  readonly dataDir?: string;
}

export const defineDev: DefineCommand = (command, context) => {
  command
    .description(
      'Watches a plan while you write it. Every save is linted, type-checked where TypeScript is installed, and previewed. A key runs ' +
        'the plan, resumes a failed run with the change, answers what it asks, or opens the console. Agents do not call models: they ' +
        'answer what "rehearsal.json" beside the plan says, by node, or something that fits their schema; --real gives them their ' +
        'models. Without a terminal it prints lines, and --run takes the place of the keys.',
    )
    .option('--input <json>', "the plan's input, as JSON")
    .option('--real', 'let agents use their real models')
    .option('--run', 'run the plan at once, and resume a failed run after every change')
    .option('--open', 'open the console')
    .option(
      '--data-dir <dir>',
      `${DATA_DIR_OPTION[1].replace(/,.*/, '')}; default: one beside the usual one, for rehearsals`,
    )
    .addHelpText(
      'after',
      `
Keys: r run, u resume with the change, a answer, c check, o console, q quit

Examples:
  $ signalbox dev plan.tsx
  $ signalbox dev plan.tsx --run --input '{"issue": 42}'`,
    )
    .action(async (plan: string, flags: DevFlags) => {
      const outcome = await dev(context, plan, flags);
      if (typeof outcome === 'number') return context.end(outcome);
      reportError(context.terminal, outcome, false);
      context.end(exitCodeOf(outcome));
    });
};

async function dev(
  { terminal, signals }: CommandContext,
  given: string,
  { input, real = false, run = false, open = false, dataDir }: DevFlags,
): Promise<ExitCode | ErrorEnvelope> {
  const ending = signals.ending();
  const parsed = input === undefined ? { ok: true as const, value: {} as Json } : parseJson(input);
  if (!parsed.ok) return usageError('--input is not JSON.', `Quote it for your shell: --input '{"key": "value"}'.`);
  const plan = path.resolve(given);
  // What is rehearsed is kept apart from what is real, and a server may own the other one.
  const directory = askedDataDirectory(dataDir ?? `${namedDataDirectory(undefined)}-dev`);
  const serving = await openServing(terminal, {
    directory,
    port: 0,
    planRoots: [path.dirname(plan)],
    isRehearsal: !real,
  });
  if (!serving.ok) return serving.error;
  const { host, page, close } = serving.value;
  const first = page();
  terminal.print(`Watching ${given}\nConsole: ${first}`);
  if (open) openBrowser(first);
  try {
    await developPlan({
      ...{ terminal, host, plan, ending },
      input: parsed.value,
      dataDirectory: directory,
      isAutomatic: run,
      openConsole() {
        const link = page();
        terminal.print(`Console: ${link}`);
        openBrowser(link);
      },
    });
  } finally {
    await close();
  }
  return exitCodes.done;
}
