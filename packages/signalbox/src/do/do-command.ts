import * as fs from 'node:fs';
import * as os from 'node:os';
import path from 'node:path';
import { usageError } from '@signalbox/app';
import { type AgentRegister, openAgentRegister } from '@signalbox/app/agents';
import {
  type ErrorEnvelope,
  openReader,
  openTurns,
  type Result,
  type RunId,
  type RunRecord,
} from '@signalbox/app/host';
import type { DefineCommand } from '../command.ts';
import {
  ANY_DIRECTORY_OPTION,
  DATA_DIR_OPTION,
  type DataFlags,
  writableDataDirectory,
} from '../data-directory-option.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import { followRun } from '../follow-run.ts';
import type { RunOwner } from '../owner/run-owner.ts';
import { withOwner } from '../owner/with-owner.ts';
import { describeEnd, exitCodeOfEnd } from '../run-report.ts';
import { summaryOf } from '../run-summary.ts';
import { runViewOf } from '../run-view.ts';
import { shownLines } from '../shown-lines.ts';
import { paintOf, reportError, type Terminal } from '../terminal.ts';
import { answerInPlace } from './answer-in-place.ts';
import { talkView } from './talk-view.ts';

interface DoFlags extends DataFlags {
  readonly with?: string;
  readonly apply: string;
  readonly cwd?: string;
  readonly anyDirectory?: boolean;
}

const APPLY = ['ask', 'auto', 'never'];
/** How long an agent's process waits for the person at this terminal. */
const PARK_MS = 600_000;

export const defineDo: DefineCommand = (command, { terminal, signals, launch, end }) => {
  command
    .description(
      'Gives an installed agent a task in a directory, without a plan. The agent works on a layer of the directory: its changes are shown as a ' +
        'diff, then applied or dropped. Questions are answered in place; without a terminal the run waits, and says how to answer. It is an ' +
        'ordinary run: it can be resumed, undone and exported.',
    )
    .option('--with <agent>', 'the agent; default: the first that is installed in the data directory')
    .option('--apply <when>', 'when its changes reach the directory: ask (after you saw them), auto or never', 'ask')
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

Exit codes: 0 done, applied or dropped, 1 failed, 2 usage, 3 waiting for a person, 4 refused.`,
    )
    .action(async (task: string, flags: DoFlags) => {
      const { json = false } = flags;
      const refuse = (error: ErrorEnvelope) => {
        reportError(terminal, error, json);
        end(exitCodes.usage);
      };
      if (!APPLY.includes(flags.apply))
        return refuse(usageError(`--apply must be ${APPLY.join(', ')}; got "${flags.apply}".`, 'Give one of them.'));
      const dataDirectory = writableDataDirectory(flags.dataDir);
      const agent = agentFor(openAgentRegister({ dataDirectory, env: process.env }), flags);
      if (!agent.ok) return refuse(agent.error);
      const ending = signals.ending();
      const isAnswered = !json && terminal.ask !== undefined;
      const park = isAnswered ? { parkMs: PARK_MS } : {};
      end(
        await withOwner(terminal, { ...flags, ...park, warm: true, ...(launch && { launch }) }, owner =>
          done(terminal, owner, { task, agent: agent.value, flags, dataDirectory }, ending),
        ),
      );
    });
};

interface Asked {
  readonly task: string;
  readonly agent: string;
  readonly flags: DoFlags;
  readonly dataDirectory: string;
}

/** Starts the run and follows it, over as many waits as the person answers. */
async function done(
  terminal: Terminal,
  owner: RunOwner,
  { task, agent, flags, dataDirectory }: Asked,
  ending: AbortSignal,
): Promise<ExitCode | ErrorEnvelope> {
  const { json = false, apply, anyDirectory } = flags;
  const directory = path.resolve(flags.cwd ?? '.');
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'signalbox-do-'));
  const paint = paintOf(terminal);
  const listening = owner.listen();
  const viewOf = (run: RunId) =>
    json
      ? runViewOf(terminal, owner.reader, run, true)
      : talkView(terminal, event => answerInPlace(terminal, owner, event, ending));
  let begin = (): Promise<Result<RunId, ErrorEnvelope>> => {
    const file = path.join(folder, 'do.tsx');
    fs.writeFileSync(file, planOf(agent, apply, task));
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
      return await reported(run);
    }
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
    await listening;
  }

  async function isAllAnswered({ id }: RunRecord): Promise<boolean> {
    for (const { decision } of await owner.reader.decisions({ run: id, status: ['open'] })) {
      if (!(await answerInPlace(terminal, owner, decision.id, ending))) return false;
    }
    return true;
  }

  async function reported(run: RunRecord): Promise<ExitCode> {
    const tasks = await owner.reader.tasks(run.id);
    const isDropped = tasks.at(-1)?.lastError?.code === 'changes-dropped';
    const diff = run.status === 'completed' ? await diffOf(dataDirectory, run.id, apply, owner) : '';
    if (json) {
      const { id, status, error } = run;
      terminal.print(
        JSON.stringify({ run: id, agent, end: { status, error }, diff, dropped: isDropped || apply === 'never' }),
      );
    } else {
      if (diff !== '') terminal.print(shownLines(diff).join('\n'));
      if (isDropped) terminal.print(`Dropped. Nothing of it is in ${directory}.`);
      else terminal.print(describeEnd(run, await summaryOf(owner.reader, run), paint));
    }
    return isDropped ? exitCodes.done : exitCodeOfEnd(run.status);
  }
}

/** What the agent changed, or would have. What was asked about was shown with the question. */
async function diffOf(dataDirectory: string, run: RunId, apply: string, { reader }: RunOwner): Promise<string> {
  if (apply === 'never') {
    const [task] = await reader.tasks(run);
    const chunks = task === undefined ? [] : await reader.stream(run, task.id, 0, 100_000);
    const kept = chunks.map(({ payload }) => payload as { readonly kind?: unknown; readonly diff?: unknown } | null);
    const diff = kept.findLast(entry => entry?.kind === 'changes')?.diff;
    return typeof diff === 'string' ? diff : '';
  }
  if (apply === 'ask') return '';
  const opened = openReader({ path: path.join(dataDirectory, 'db.sqlite') });
  if (!opened.ok) return '';
  try {
    const turns = openTurns(dataDirectory, opened.value, process.env);
    const made = (await turns.list(run)).find(({ name }) => name === 'diff.patch');
    const read = made === undefined ? undefined : await turns.read(made);
    return read?.ok === true ? Buffer.from(read.value.content).toString('utf8').trimEnd() : '';
  } finally {
    opened.value.close();
  }
}

function agentFor(register: AgentRegister, { with: given, apply }: DoFlags): Result<string, ErrorEnvelope> {
  if (given?.includes(','))
    return { ok: false, error: usageError(`--with takes one agent; got "${given}".`, 'Name one.') };
  const rows = register.rows();
  const known = rows.ok ? rows.value : [];
  const name = given ?? known.find(row => (register.installed(row)?.from ?? 'PATH') !== 'PATH')?.id;
  if (name === undefined) {
    const suggestion =
      'Install one with "signalbox agents add NAME", or use the built-in agent: --with builtin --apply auto.';
    return { ok: false, error: usageError('No agent is installed.', suggestion) };
  }
  const choice = register.choose({ vendor: 'any', plugin: name });
  if (choice.kind === 'missing')
    return { ok: false, error: usageError(choice.message, 'List agents: signalbox agents ls') };
  if (choice.kind === 'builtin' && apply !== 'auto') {
    const message = `The built-in agent writes files at once; --apply ${apply} needs an installed agent.`;
    return { ok: false, error: usageError(message, 'Use --apply auto, or name another agent.') };
  }
  return { ok: true, value: name };
}

function planOf(agent: string, apply: string, task: string): string {
  const props = Object.entries({ id: agent, plugin: agent, apply, prompt: task });
  return `import { Agent, definePlan } from 'signalbox';
export default definePlan({
  name: 'do',
  render: () => <Agent ${props.map(([name, value]) => `${name}={${JSON.stringify(value)}}`).join(' ')} />,
});
`;
}
