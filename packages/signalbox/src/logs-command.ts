import { findRun, type Reader, type RunId, type RunRecord, type Task } from '@signalbox/app/runs';
import type { DefineCommand } from './command.ts';
import { DATA_DIR_OPTION, type DataFlags } from './data-directory-option.ts';
import { exitCodes } from './exit-code.ts';
import { runViewOf } from './run-view.ts';
import { shown, type Terminal } from './terminal.ts';
import { withReader } from './with-reader.ts';

interface LogsFlags extends DataFlags {
  readonly follow?: boolean;
  readonly node?: string;
}

const PAGE = 500;
/** Between two looks at a run that goes on. */
const LOOK_MS = 250;

export const defineLogs: DefineCommand = (command, { terminal, end }) => {
  command
    .description('Prints what happened in a run and what its agents said, in order; with --follow also what comes.')
    .option('-f, --follow', 'go on until nobody drives the run any more')
    .option('--node <node>', 'only what the agent of this node said')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print one event or one part of a text a line, as JSON')
    .addHelpText('after', '\nExample:\n  $ signalbox logs 019b8d62 --follow')
    .action(async (given: string, flags: LogsFlags) => {
      end(
        await withReader(terminal, flags, async reader => {
          const run = await findRun(reader, given);
          if (!run.ok) return run.error;
          await print(terminal, reader, run.value.id, flags);
          return exitCodes.done;
        }),
      );
    });
};

async function print(terminal: Terminal, reader: Reader, run: RunId, flags: LogsFlags): Promise<void> {
  const { json = false, follow = false, node } = flags;
  const view = runViewOf(terminal, reader, run, json);
  const heard = new Map<Task['id'], number>();
  for (let next = 0; ; ) {
    const record = await reader.run(run);
    for (;;) {
      const page = node === undefined ? await reader.events(run, next, PAGE) : [];
      await view.events(page);
      next += page.length;
      if (page.length === 0) break;
    }
    for (const task of await reader.tasks(run, {})) {
      if (node === undefined || task.node === node) await printSaid(terminal, reader, run, task, heard, json);
    }
    if (!follow || record === undefined || !goesOn(record)) return;
    await new Promise(resolve => setTimeout(resolve, LOOK_MS));
  }
}

async function printSaid(
  terminal: Terminal,
  reader: Reader,
  run: RunId,
  { id, node }: Task,
  heard: Map<Task['id'], number>,
  json: boolean,
): Promise<void> {
  for (;;) {
    const page = await reader.stream(run, id, heard.get(id) ?? 0, PAGE);
    for (const chunk of page) {
      heard.set(id, chunk.index + 1);
      if (json) terminal.print(JSON.stringify(chunk));
      else if (chunk.kind !== 'message')
        terminal.print(`  ${shown(node)} ${chunk.kind}: ${shown(textOf(chunk.payload))}`);
    }
    if (page.length < PAGE) return;
  }
}

function textOf(payload: unknown): string {
  return typeof payload === 'string' ? payload : JSON.stringify(payload);
}

function goesOn({ status }: RunRecord): boolean {
  return status === 'running' || status === 'queued';
}
