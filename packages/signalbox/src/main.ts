import { CHILD_COMMAND, type CommandEntry } from './command.ts';
import { runCommandLine } from './command-line.ts';
import { commands } from './commands.ts';
import { hostTerminal, type Terminal } from './terminal.ts';

/** The whole program, with every command. */
export function main(
  argv: readonly string[],
  terminal: Terminal = hostTerminal(),
  entries: readonly CommandEntry[] = commands,
): Promise<number> {
  // A checkout runs from source, with no `signalbox` on the PATH.
  return runCommandLine(argv, terminal, entries, [process.execPath, import.meta.filename, CHILD_COMMAND]);
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
