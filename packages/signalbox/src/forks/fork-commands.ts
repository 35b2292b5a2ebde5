import { usageError } from '@signalbox/app';
import {
  type ErrorEnvelope,
  type ForkMoment,
  type ForkRequest,
  findRun,
  type Json,
  type Result,
  type RunRecord,
} from '@signalbox/app/runs';
import type { Command } from 'commander';
import type { CommandContext, DefineCommand } from '../command.ts';
import { ANY_DIRECTORY_OPTION, DATA_DIR_OPTION, type DataFlags, TRUST_OPTION } from '../data-directory-option.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import { parseJson } from '../json-argument.ts';
import { followed } from '../run-command.ts';
import type { RunSurface } from '../surface/run-surface.ts';
import { withSurface } from '../surface/with-surface.ts';
import { shown, type Terminal } from '../terminal.ts';
import { confirm } from './confirm.ts';

interface ForkFlags extends DataFlags {
  readonly frame?: string;
  readonly call?: string;
  readonly after?: boolean;
  readonly name?: string;
  readonly input?: string;
  readonly yes?: boolean;
  readonly directory?: string;
  readonly anyDirectory?: boolean;
  readonly paused?: boolean;
  readonly acceptEffects?: boolean;
  readonly trust?: boolean;
}

export const defineFork: DefineCommand = (command, context) => {
  command
    .description(
      'Makes a new run that goes on from a moment of another one, and follows it to its end. What was done by then counts as ' +
        'done, with its results; the other run is not touched.',
    )
    .option('--frame <n>', 'from this frame; see "signalbox frames"')
    .option('--call <id>', 'from right before this tool call of an agent; see "signalbox checkpoints"')
    .option('--after', 'with --call: from right after it');
  forking(command, context, 'signalbox fork 019b8d62 --frame 3', (_, flags) => momentOf(flags));
};

export const defineRerun: DefineCommand = (command, context) => {
  command.description(
    'Makes a new run that goes on from where the last work of a node began, and follows it to its end: the node and what ' +
      'depends on it are done anew. The other run is not touched.',
  );
  forking(command, context, `signalbox rerun 019b8d62 build --input '{"branch": "next"}' --yes`, node => ({
    ok: true,
    value: { kind: 'node', node },
  }));
};

function forking(
  command: Command,
  { terminal, signals, end }: CommandContext,
  example: string,
  momentFrom: (node: string, flags: ForkFlags) => Result<ForkMoment, ErrorEnvelope>,
): void {
  command
    .option('--name <name>', 'what the new run is called')
    .option('--input <json>', 'another input than the run had; asks first')
    .option('--yes', 'do not ask')
    .option('--directory <dir>', 'an empty directory to work in, with the files of that moment')
    .option(...ANY_DIRECTORY_OPTION)
    .option('--paused', 'make it, and do not go on with it')
    .option('--accept-effects', 'also if the world keeps what was done since')
    .option(...TRUST_OPTION)
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print events and the end as JSON')
    .addHelpText('after', `\nExample:\n  $ ${example}`)
    .action(async (given: string, ...rest: readonly unknown[]) => {
      const flags = rest.at(-2) as ForkFlags;
      const moment = momentFrom(typeof rest[0] === 'string' ? rest[0] : '', flags);
      end(
        await withSurface(terminal, { ...flags, warm: flags.paused !== true }, async surface => {
          if (!moment.ok) return moment.error;
          const run = await findRun(surface.reader, given);
          return run.ok ? fork({ terminal, signals }, surface, run.value, moment.value, flags) : run.error;
        }),
      );
    });
}

async function fork(
  { terminal, signals }: Pick<CommandContext, 'terminal' | 'signals'>,
  surface: RunSurface,
  run: RunRecord,
  at: ForkMoment,
  flags: ForkFlags,
): Promise<ExitCode | ErrorEnvelope> {
  const { json = false, paused = false, name, directory, anyDirectory, acceptEffects, trust } = flags;
  const input = flags.input === undefined ? undefined : parseJson(flags.input);
  if (input?.ok === false) {
    return usageError('--input is not JSON.', `Quote it for your shell: --input '{"key": "value"}'.`);
  }
  const request: ForkRequest = {
    at,
    name,
    directory,
    anyDirectory,
    paused,
    acceptEffects,
    trust,
    ...(input !== undefined && { input: input.value, confirmed: await isMeant(terminal, run, input.value, flags) }),
  };
  const begin = async () => {
    const forked = await surface.fork(run.id, request);
    if (forked.ok && !json) {
      const { origin } = (await surface.reader.run(forked.value)) ?? {};
      const frame = origin?.kind === 'fork' ? origin.frame : 0;
      terminal.print(`${forked.value} goes on from frame ${frame} of ${run.id}`);
      if (await sharesFiles(surface, run, forked.value)) {
        terminal.complain(
          `It works on the files of ${run.workingDirectory} as they are now; --directory gives it its own.`,
        );
      }
    }
    return forked;
  };
  if (!paused) return followed(terminal, flags, surface, 0, begin, signals.ending());
  const forked = await begin();
  if (!forked.ok) return forked.error;
  if (json) terminal.print(JSON.stringify({ run: forked.value, status: 'paused' }));
  else terminal.print(`It is paused. Go on with: signalbox resume ${forked.value}`);
  return exitCodes.done;
}

/** Whether agents of the parent changed files in a directory that the fork works in too. */
async function sharesFiles(surface: RunSurface, run: RunRecord, fork: RunRecord['id']): Promise<boolean> {
  const { workingDirectory } = (await surface.reader.run(fork)) ?? {};
  if (workingDirectory === undefined || workingDirectory !== run.workingDirectory) return false;
  const calls = await surface.checkpoints(run.id);
  return calls.ok && calls.value.some(({ changesFiles }) => changesFiles);
}

/** Another input is shown beside the one that the run had. */
async function isMeant(terminal: Terminal, run: RunRecord, input: Json, { yes = false }: ForkFlags): Promise<boolean> {
  if (yes) return true;
  terminal.complain(`- ${shown(JSON.stringify(run.input))}\n+ ${shown(JSON.stringify(input))}`);
  return (await confirm('Go on with this input?')) ?? false;
}

function momentOf({ frame, call, after = false }: ForkFlags): Result<ForkMoment, ErrorEnvelope> {
  const no = (message: string) =>
    ({ ok: false, error: usageError(message, 'Such as: signalbox fork RUN --frame 3') }) as const;
  if ((frame === undefined) === (call === undefined)) return no('Say where to fork: either --frame or --call.');
  if (call !== undefined) return { ok: true, value: { kind: 'call', call, after } };
  if (after) return no('--after goes with --call.');
  if (!/^\d{1,9}$/.test(frame ?? '')) return no(`--frame takes the number of a frame, not ${frame}.`);
  return { ok: true, value: { kind: 'frame', frame: Number(frame) } };
}
