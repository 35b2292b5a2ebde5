import { usageError } from '@signalbox/app';
import { findPlanRun } from '@signalbox/app/all-runs';
import {
  callsLeftOut,
  type ErrorEnvelope,
  type ForkMoment,
  type ForkRequest,
  type Json,
  type Result,
  type RunRecord,
  unconfirmedState,
} from '@signalbox/app/host';
import type { Command } from 'commander';
import type { CommandContext, DefineCommand } from '../command.ts';
import {
  ANY_DIRECTORY_OPTION,
  askedDataDirectory,
  DATA_DIR_OPTION,
  type DataFlags,
  TRUST_OPTION,
} from '../data-directory-option.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import { parseJson } from '../json-argument.ts';
import type { RunOwner } from '../owner/run-owner.ts';
import { withOwner } from '../owner/with-owner.ts';
import { followed } from '../run-command.ts';
import { shown, type Terminal } from '../terminal.ts';
import { confirm } from './confirm.ts';

interface ForkFlags extends DataFlags {
  readonly frame?: string;
  readonly call?: string;
  readonly after?: boolean;
  readonly name?: string;
  readonly input?: string;
  /** Of the run, where `input` is a node's. */
  readonly runInput?: string;
  readonly withState?: string;
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
      'Creates a new run that continues from a moment of another one, and follows it to its end. Work done by then counts as ' +
        'done, with its results; the other run is not touched.',
    )
    .option('--frame <n>', 'from this frame; see "signalbox frames"')
    .option('--call <id>', 'from right before this tool call of an agent; see "signalbox checkpoints"')
    .option('--after', 'with --call: from right after it');
  command.option('--input <json>', 'a different input; asks first');
  forking(command, context, 'signalbox fork 019b8d62 --frame 3', (_, flags) => momentOf(flags));
};

export const defineRerun: DefineCommand = (command, context) => {
  command.description(
    "Creates a new run that continues from where a node's last work began, and follows it to its end: the node and its " +
      'dependents run again. The other run is not touched.',
  );
  command
    .option(
      '--input <json>',
      "a different input of the node: fields replace those of its own, a text is an agent's prompt; asks first",
    )
    .option('--run-input <json>', 'a different input of the run; asks first');
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
    .option('--name <name>', 'name of the new run')
    .option('--with-state <json>', 'different values of durable state, by key; checked by the plan; asks first')
    .option('--yes', 'skip the confirmation')
    .option('--directory <dir>', 'an empty directory to work in, which receives the files of that moment')
    .option(...ANY_DIRECTORY_OPTION)
    .option('--paused', 'create the run without starting it')
    .option('--accept-effects', 'fork even though later effects outside remain')
    .option(...TRUST_OPTION)
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print events and the result as JSON')
    .addHelpText('after', `\nExample:\n  $ ${example}`)
    .action(async (given: string, ...rest: readonly unknown[]) => {
      const flags = rest.at(-2) as ForkFlags;
      const moment = momentFrom(typeof rest[0] === 'string' ? rest[0] : '', flags);
      end(
        await withOwner(terminal, { ...flags, warm: flags.paused !== true }, async owner => {
          if (!moment.ok) return moment.error;
          const run = await findPlanRun(owner.reader, askedDataDirectory(flags.dataDir), given);
          return run.ok ? fork({ terminal, signals }, owner, run.value, moment.value, flags) : run.error;
        }),
      );
    });
}

async function fork(
  { terminal, signals }: Pick<CommandContext, 'terminal' | 'signals'>,
  owner: RunOwner,
  run: RunRecord,
  at: ForkMoment,
  flags: ForkFlags,
): Promise<ExitCode | ErrorEnvelope> {
  const { json = false, paused = false, name, directory, anyDirectory, acceptEffects, trust } = flags;
  const ofNode = at.kind === 'node';
  const input = inputOf(ofNode ? '--run-input' : '--input', ofNode ? flags.runInput : flags.input);
  if (input?.ok === false) return input.error;
  const nodeInput = ofNode ? inputOf('--input', flags.input) : undefined;
  if (nodeInput?.ok === false) return nodeInput.error;
  const edits = flags.withState === undefined ? {} : stateOf(flags.withState);
  if (edits === undefined) {
    return usageError(
      '--with-state is not a JSON object.',
      `Quote it for your shell: --with-state '{"key": "value"}'.`,
    );
  }
  const keys = Object.keys(edits);
  if (keys.length > 0 && !(await isStateMeant(terminal, edits, flags))) return unconfirmedState(run, keys);
  const request: ForkRequest = {
    at,
    name,
    directory,
    anyDirectory,
    paused: paused || keys.length > 0,
    acceptEffects,
    trust,
    ...(input !== undefined && { input: input.value }),
    ...(nodeInput !== undefined && { nodeInput: nodeInput.value }),
  };
  const confirmed = await isMeant(terminal, owner, run, request, flags);
  if (!confirmed.ok) return confirmed.error;
  let leftOut: readonly string[] = [];
  const begin = async () => {
    const forked = await owner.fork(run.id, { ...request, confirmed: confirmed.value });
    if (!forked.ok) return forked;
    const calls = await owner.checkpoints(run.id);
    if (calls.ok) leftOut = await callsLeftOut(owner.reader, forked.value, at, calls.value);
    if (json && !paused && leftOut.length > 0) terminal.print(JSON.stringify({ run: forked.value, leftOut }));
    if (!json) {
      const { origin } = (await owner.reader.run(forked.value)) ?? {};
      const frame = origin?.kind === 'fork' ? origin.frame : 0;
      terminal.print(`${forked.value} continues from frame ${frame} of ${run.id}`);
      if (await sharesFiles(owner, run, forked.value)) {
        terminal.complain(`It works on the current files of ${run.workingDirectory}; --directory gives it its own.`);
      }
      for (const call of leftOut)
        terminal.complain(
          `Its files are without the changes of ${shown(call)}, which was undone; its agents remember it as done.`,
        );
    }
    for (const [key, value] of Object.entries(edits)) {
      const edited = await owner.act(forked.value, { kind: 'edit', key, value, reason: 'forked with another state' });
      // A fork with half of its edits would be another run than was asked for.
      if (edited.ok) continue;
      await owner.act(forked.value, { kind: 'terminate', reason: `its state could not be edited: ${key}` });
      return edited;
    }
    return keys.length > 0 && !paused ? owner.resume(forked.value, { trust }) : forked;
  };
  if (!paused) return followed(terminal, flags, owner, 0, begin, signals.ending());
  const forked = await begin();
  if (!forked.ok) return forked.error;
  if (json)
    terminal.print(JSON.stringify({ run: forked.value, status: 'paused', ...(leftOut.length > 0 && { leftOut }) }));
  else terminal.print(`It is paused. Continue with: signalbox resume ${forked.value}`);
  return exitCodes.done;
}

/** Whether the parent's agents changed files in a directory that the fork also works in. */
async function sharesFiles(owner: RunOwner, run: RunRecord, fork: RunRecord['id']): Promise<boolean> {
  const { workingDirectory } = (await owner.reader.run(fork)) ?? {};
  if (workingDirectory === undefined || workingDirectory !== run.workingDirectory) return false;
  const calls = await owner.checkpoints(run.id);
  return calls.ok && calls.value.some(({ changesFiles }) => changesFiles);
}

/** Shows different inputs next to the original ones. */
async function isMeant(
  terminal: Terminal,
  owner: RunOwner,
  run: RunRecord,
  request: ForkRequest,
  { yes = false }: ForkFlags,
): Promise<Result<boolean, ErrorEnvelope>> {
  const { input, nodeInput } = request;
  if (input === undefined && nodeInput === undefined) return { ok: true, value: false };
  if (yes) return { ok: true, value: true };
  if (input !== undefined) compare(terminal, run.input, input);
  if (nodeInput !== undefined) {
    // Asked without a word of consent, the owner refuses, and says what the node's input was and would be.
    const asked = await owner.fork(run.id, { ...request, input: undefined, paused: true });
    if (asked.ok || asked.error.code !== 'run/unconfirmed') return asked.ok ? { ok: true, value: false } : asked;
    const { before = null, after = null } = (asked.error.details ?? {}) as {
      readonly before?: Json;
      readonly after?: Json;
    };
    compare(terminal, before, after);
  }
  return { ok: true, value: (await confirm('Continue with this input?')) ?? false };
}

function compare(terminal: Terminal, before: Json, after: Json): void {
  terminal.complain(`- ${shown(JSON.stringify(before))}\n+ ${shown(JSON.stringify(after))}`);
}

function inputOf(option: string, given: string | undefined): Result<Json, ErrorEnvelope> | undefined {
  if (given === undefined) return undefined;
  const parsed = parseJson(given);
  if (parsed.ok) return parsed;
  const error = usageError(`${option} is not JSON.`, `Quote it for your shell: ${option} '{"key": "value"}'.`);
  return { ok: false, error };
}

/** Undefined if it is no object. */
function stateOf(given: string): Readonly<Record<string, Json>> | undefined {
  const parsed = parseJson(given);
  const isObject =
    parsed.ok && typeof parsed.value === 'object' && parsed.value !== null && !Array.isArray(parsed.value);
  return isObject ? (parsed.value as Readonly<Record<string, Json>>) : undefined;
}

async function isStateMeant(
  terminal: Terminal,
  edits: Readonly<Record<string, Json>>,
  { yes = false }: ForkFlags,
): Promise<boolean> {
  if (yes) return true;
  for (const [key, value] of Object.entries(edits))
    terminal.complain(`+ ${shown(key)} = ${shown(JSON.stringify(value))}`);
  return (await confirm('Continue with this state?')) ?? false;
}

function momentOf({ frame, call, after = false }: ForkFlags): Result<ForkMoment, ErrorEnvelope> {
  const no = (message: string) =>
    ({ ok: false, error: usageError(message, 'Example: signalbox fork RUN --frame 3') }) as const;
  if ((frame === undefined) === (call === undefined)) return no('Say where to fork: either --frame or --call.');
  if (call !== undefined) return { ok: true, value: { kind: 'call', call, after } };
  if (after) return no('--after goes with --call.');
  if (!/^\d{1,9}$/.test(frame ?? '')) return no(`--frame must be a frame number; got "${frame}".`);
  return { ok: true, value: { kind: 'frame', frame: Number(frame) } };
}
