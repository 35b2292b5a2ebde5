import * as fs from 'node:fs';
import * as os from 'node:os';
import path from 'node:path';
import { usageError } from '@signalbox/app';
import { layersFor, openAgentRegister } from '@signalbox/app/agents';
import { DO_FILE, DO_FOLDER, type ErrorEnvelope, type Result, type RunId, type RunRecord } from '@signalbox/app/host';
import type { DefineCommand } from '../command.ts';
import {
  ANY_DIRECTORY_OPTION,
  DATA_DIR_OPTION,
  type DataFlags,
  writableDataDirectory,
} from '../data-directory-option.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import { followRun } from '../follow-run.ts';
import { othersRested } from '../owner/others-rested.ts';
import type { RunOwner } from '../owner/run-owner.ts';
import { withOwner } from '../owner/with-owner.ts';
import { runViewOf } from '../run-view.ts';
import { paintOf, reportError, type Terminal } from '../terminal.ts';
import { answerInPlace, type InPlace } from './answer-in-place.ts';
import { attemptsFor } from './do-agents.ts';
import { doPlan } from './do-plan.ts';
import { type DoneTask, reportDone } from './do-report.ts';
import { talkView } from './talk-view.ts';

interface DoFlags extends DataFlags {
  readonly with?: string;
  readonly apply: string;
  readonly check?: string;
  readonly cwd?: string;
  readonly anyDirectory?: boolean;
}

const APPLY = ['ask', 'auto', 'never'];
/** How long an agent's process waits for the person at this terminal. */
const PARK_MS = 600_000;

export const defineDo: DefineCommand = (command, { terminal, signals, launch, end }) => {
  command
    .description(
      'Gives installed agents a task in a directory, without a plan. Each agent works on a layer of its own of the directory: its changes are ' +
        'shown as a diff, then applied or dropped. Several agents do the same task side by side; they are compared, and you keep the changes of ' +
        'one or none. Questions are answered in place; without a terminal the run waits, and says how to answer. It is an ordinary run: it can ' +
        'be resumed, undone and exported.',
    )
    .option(
      '--with <agents>',
      'one agent, or several separated by commas; default: the first installed in the data directory',
    )
    .option('--apply <when>', 'when changes reach the directory: ask (after you saw them), auto or never', 'ask')
    .option(
      '--check <command>',
      'a command for the shell that is run on the changes before they are applied, confined and without a network; with --apply auto it decides',
    )
    .option('--cwd <dir>', 'the directory to work in; default: this one')
    .option(...ANY_DIRECTORY_OPTION)
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print every event as one line of JSON, then the result')
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox do "fix the failing test"
  $ signalbox do "add a --quiet flag" --with codex --apply auto
  $ signalbox do "fix the failing test" --with claude,codex --check "npm test"
  $ signalbox do "fix the failing test" --with claude,claude --check "npm test" --apply auto

With several agents, --apply auto keeps the first one named whose check passed, and none if no check passed.

Exit codes: 0 done, applied or dropped, 1 failed, or no check passed, 2 usage, 3 waiting for a person, 4 refused.`,
    )
    .action(async (task: string, flags: DoFlags) => {
      const { json = false, apply, check } = flags;
      const refuse = (error: ErrorEnvelope) => {
        reportError(terminal, error, json);
        end(exitCodes.usage);
      };
      if (task.trim() === '') return refuse(usageError('The task is empty.', 'Say what to do: signalbox do "TASK"'));
      if (!APPLY.includes(apply))
        return refuse(usageError(`--apply must be ${APPLY.join(', ')}; got "${apply}".`, 'Give one of them.'));
      if (check?.trim() === '')
        return refuse(usageError('--check is empty.', 'Give a command, such as --check "npm test".'));
      const dataDirectory = writableDataDirectory(flags.dataDir);
      const asked = { with: flags.with, apply, check };
      const attempts = attemptsFor(openAgentRegister({ dataDirectory, env: process.env }), asked);
      if (!attempts.ok) return refuse(attempts.error);
      const directory = path.resolve(flags.cwd ?? '.');
      if (!isDirectory(directory))
        return refuse(usageError(`${directory} is not a directory.`, 'Name the directory to work in with --cwd.'));
      if (holds(directory, dataDirectory) && (apply !== 'auto' || attempts.value.length > 1))
        return refuse(
          usageError(
            `Agents cannot work in ${directory}: the data directory is inside it.`,
            'Name a smaller directory with --cwd, or another data directory with --data-dir.',
          ),
        );
      if (check !== undefined) {
        const fault = await withoutLayers(dataDirectory, directory);
        if (fault !== undefined) return refuse(fault);
      }
      const ending = signals.ending();
      const park = !json && terminal.ask !== undefined ? { parkMs: PARK_MS } : {};
      const wanted = { task, attempts: attempts.value, apply, check, json, directory, dataDirectory };
      end(
        await withOwner(terminal, { ...flags, ...park, warm: true, ...(launch && { launch }) }, owner =>
          done(terminal, owner, { ...wanted, anyDirectory: flags.anyDirectory }, ending),
        ),
      );
    });
};

function isDirectory(directory: string): boolean {
  try {
    return fs.statSync(directory).isDirectory();
  } catch {
    return false;
  }
}

/** Whether a directory is another one or above it, links followed. */
function holds(directory: string, inner: string): boolean {
  const [outside] = path.relative(fs.realpathSync(directory), fs.realpathSync(inner)).split(path.sep);
  return outside !== '..';
}

/** Why changes cannot be checked before they are applied. */
async function withoutLayers(dataDirectory: string, directory: string): Promise<ErrorEnvelope | undefined> {
  const layers = await layersFor(dataDirectory, directory);
  if (layers.ok) return undefined;
  return usageError(
    `Changes cannot be checked before they are applied: ${layers.error.message}.`,
    'See "signalbox doctor", or leave out --check.',
  );
}

/** Starts the run and follows it, over as many waits as the person answers. */
async function done(
  terminal: Terminal,
  owner: RunOwner,
  wanted: DoneTask & { readonly anyDirectory?: boolean | undefined },
  ending: AbortSignal,
): Promise<ExitCode | ErrorEnvelope> {
  const { json, directory, attempts, anyDirectory } = wanted;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), DO_FOLDER));
  const listening = owner.listen();
  const place: InPlace = { terminal, owner, ending, isNamed: attempts.length > 1 };
  const viewOf = (run: RunId) =>
    json
      ? runViewOf(terminal, owner.reader, run, true, { paint: paintOf(terminal), editor: '' })
      : talkView(terminal, {
          speakers: attempts.map(({ id }) => id),
          asked: decision => answerInPlace(place, decision),
        });
  let begin = (): Promise<Result<RunId, ErrorEnvelope>> => {
    const file = path.join(folder, DO_FILE);
    fs.writeFileSync(file, doPlan(wanted));
    return owner.start({ file, input: {}, name: 'do', directory, anyDirectory });
  };
  try {
    for (let from = 0; ; ) {
      const followed = await followRun(owner, from, begin, viewOf, ending);
      if (!followed.ok) return followed.error;
      const run = followed.value;
      if (run.status === 'waiting' && !json && !ending.aborted && (await isAllAnswered(run))) {
        from = run.nextSeq;
        begin = () => owner.resume(run.id, {});
        continue;
      }
      const code = await reportDone(terminal, owner.reader, run, wanted);
      await othersRested(terminal, owner, ending);
      return code;
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
    await listening;
  }

  async function isAllAnswered({ id }: RunRecord): Promise<boolean> {
    for (const { decision } of await owner.reader.decisions({ run: id, status: ['open'] })) {
      if (!(await answerInPlace(place, decision.id))) return false;
    }
    return true;
  }
}
