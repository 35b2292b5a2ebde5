import { usageError } from '@signalbox/app';
import { findPlanRun, LAST } from '@signalbox/app/all-runs';
import {
  correlationOf,
  type ErrorEnvelope,
  isAtLeast,
  type LogLevel,
  type LogLine,
  lineOfChunk,
  lineOfEvent,
  logLevels,
  openSecrets,
  type Reader,
  type RunRecord,
  type Task,
} from '@signalbox/app/host';
import type { DefineCommand } from '../command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from '../data-directory-option.ts';
import { exitCodes } from '../exit-code.ts';
import { paintOf, type Terminal } from '../terminal.ts';
import { withReader } from '../with-reader.ts';
import { byTime } from './by-time.ts';
import { describeLine } from './log-report.ts';

interface LogsFlags extends DataFlags {
  readonly follow?: boolean;
  readonly node?: string;
  readonly level: string;
}

const PAGE = 500;
/** Polling interval for an active run. */
const LOOK_MS = 250;

export const defineLogs: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      "Prints a run's log and what its agents said, in order; with --follow also new lines. Known secrets, and values with " +
        "secret-like names, are left out. The run's logs/stream.ndjson has the same lines.",
    )
    .option('-f, --follow', 'keep printing until nothing drives the run any more')
    .option('--level <level>', `minimum level: ${logLevels.join(', ')}`, 'info')
    .option('--node <node>', 'only lines about this node, and what its agent said')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print one JSON object per line')
    .addHelpText(
      'after',
      '\nExamples:\n  $ signalbox logs 019b8d62 --follow\n  $ signalbox logs 019b8d62 --level warn --json',
    )
    .action(async (given: string | undefined, flags: LogsFlags) => {
      end(
        await withReader(terminal, flags, async (reader): Promise<0 | ErrorEnvelope> => {
          const level = logLevels.find(name => name === flags.level);
          if (level === undefined) {
            return usageError(
              `--level must be one of ${logLevels.join(', ')}; got "${flags.level}".`,
              'Example: --level warn',
            );
          }
          const run = await findPlanRun(reader, askedDataDirectory(flags.dataDir), given ?? LAST);
          if (!run.ok) return run.error;
          await print(terminal, reader, run.value, level, flags);
          return exitCodes.done;
        }),
      );
    });
};

async function print(
  terminal: Terminal,
  reader: Reader,
  run: RunRecord,
  level: LogLevel,
  { json = false, follow = false, node, dataDir }: LogsFlags,
): Promise<void> {
  const { data: clean } = openSecrets({
    dataDirectory: askedDataDirectory(dataDir),
    env: process.env,
    readOnly: true,
  }).filter;
  const correlationId = await correlationOf(reader, run);
  const paint = paintOf(terminal);
  const heard = new Map<Task['id'], number>();
  const tell = (line: LogLine) => terminal.print(json ? JSON.stringify(line) : describeLine(line, paint));
  let next = 0;

  async function* newEvents(): AsyncGenerator<LogLine> {
    for (;;) {
      const page = await reader.events(run.id, next, PAGE);
      if (page.length === 0) return;
      next += page.length;
      for (const { event } of page) {
        const line = lineOfEvent(event, correlationId, clean);
        if (isAtLeast(line.level, level) && (node === undefined || line.node === node)) yield line;
      }
    }
  }

  async function* newWords(task: Task): AsyncGenerator<LogLine> {
    for (;;) {
      const page = await reader.stream(run.id, task.id, heard.get(task.id) ?? 0, PAGE);
      for (const chunk of page) {
        heard.set(task.id, chunk.index + 1);
        // Agents' output is what most people look for; the transcript repeats it.
        const isShown = level === 'debug' || (level === 'info' && chunk.kind !== 'message');
        if (isShown) yield lineOfChunk(run.id, task.node, chunk, correlationId, clean);
      }
      if (page.length < PAGE) return;
    }
  }

  for (;;) {
    const record = await reader.run(run.id);
    const tasks = (await reader.tasks(run.id, {})).filter(task => node === undefined || task.node === node);
    for await (const line of byTime([newEvents(), ...tasks.map(newWords)])) tell(line);
    if (!follow || record === undefined || !goesOn(record)) return;
    await new Promise(resolve => setTimeout(resolve, LOOK_MS));
  }
}

function goesOn({ status }: RunRecord): boolean {
  return status === 'running' || status === 'queued';
}
