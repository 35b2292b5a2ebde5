/** The entry of the built program. It knows which script has which command, and loads only that script. */
import { launchAhead, type Program } from '@signalbox/app';
import { CHILD_COMMAND } from '../command.ts';
import { exitIfWritten } from './exit-if-written.ts';
import { runScript } from './kept-script.ts';
import type { OwnProgram } from './own-program.ts';

/** Commands that people and agents wait for most have smaller scripts of their own. `drives` tells whether they drive runs. */
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

/** The script of every command. */
const WHOLE = { script: './all.script.js', drives: false } as const;

/** `codeDirectory` is where compiled code may be cached. */
export async function main(argv: readonly string[], codeDirectory?: string): Promise<number> {
  const self: Program = [process.execPath, import.meta.filename, CHILD_COMMAND];
  // Only the whole program includes the operator's side, which is as large as the rest.
  const own = argv.includes('--operator') ? WHOLE : (OWN.get(argv[0]) ?? WHOLE);
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
