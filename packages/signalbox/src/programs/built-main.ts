/** The entry of the built program. It knows which file has which command, and loads nothing else. */
import { CHILD_COMMAND } from '../command.ts';
import type { OwnProgram } from './own-program.ts';

/** Commands that are built into files of their own, beside this one. */
const OWN: ReadonlyMap<string | undefined, string> = new Map([
  ['ls', './ls.js'],
  ['show', './show.js'],
  ['run', './run.js'],
  ['resume', './run.js'],
  ['mcp', './mcp.js'],
]);

export async function main(argv: readonly string[]): Promise<number> {
  // The operator's side is as large as the rest of the program, and is there already.
  const own = argv.includes('--operator') ? undefined : OWN.get(argv[0]);
  const program: { readonly main: OwnProgram } = await import(new URL(own ?? './all.js', import.meta.url).href);
  return program.main(argv, [process.execPath, import.meta.filename, CHILD_COMMAND]);
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
