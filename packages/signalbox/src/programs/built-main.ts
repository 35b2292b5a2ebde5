/** The entry of the built program. It knows which file has which command, and loads only that file. */
import { launchAhead, type Program } from '@signalbox/app';
import { CHILD_COMMAND } from '../command.ts';
import { exitIfWritten } from './exit-if-written.ts';
import { runScript } from './kept-script.ts';
import type { OwnProgram } from './own-program.ts';

/** Commands built as separate scripts next to this file, and whether they drive runs. */
const OWN: ReadonlyMap<string | undefined, { readonly script: string; readonly drives: boolean }> = new Map([
  ['ls', { script: './ls.script.js', drives: false }],
  ['show', { script: './show.script.js', drives: false }],
  ['run', { script: './run.script.js', drives: true }],
  ['resume', { script: './run.script.js', drives: true }],
  ['mcp', { script: './mcp.script.js', drives: false }],
]);

interface ProgramFile {
  readonly main: OwnProgram;
}

const ALL = new URL('./all.js', import.meta.url);

/** `codeDirectory` is where compiled code may be cached. */
export async function main(argv: readonly string[], codeDirectory?: string): Promise<number> {
  const self: Program = [process.execPath, import.meta.filename, CHILD_COMMAND];
  // Only the whole program includes the operator's side, which is as large as the rest.
  const own = argv.includes('--operator') ? undefined : OWN.get(argv[0]);
  if (own === undefined) {
    const all: ProgramFile = await import(ALL.href);
    return all.main(argv, self, { codeDirectory });
  }
  const isHelp = argv.includes('--help') || argv.includes('-h');
  // A thread takes longer to start than the rest of the program, so it starts in parallel.
  const launch = own.drives && !isHelp ? launchAhead(codeDirectory) : { codeDirectory };
  const { exports, keep } = runScript<ProgramFile>(new URL(own.script, import.meta.url), codeDirectory);
  process.once('exit', keep);
  const code = await exports.main(argv, self, launch);
  if (own.drives) exitIfWritten(code);
  return code;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
