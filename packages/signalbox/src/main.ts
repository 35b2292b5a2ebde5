import { CommanderError } from 'commander';
import { CHILD_COMMAND, type CommandEntry } from './command.ts';
import { commands } from './commands.ts';
import { endSignals } from './end-signals.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-code.ts';
import { buildProgram, nameOf } from './program.ts';
import { hostTerminal, reportError, type Terminal } from './terminal.ts';

/** The whole program: arguments in, exit code out. The only place where what was thrown is caught. */
export async function main(
  argv: readonly string[],
  terminal: Terminal = hostTerminal(),
  entries: readonly CommandEntry[] = commands,
): Promise<number> {
  const signals = endSignals();
  let code: ExitCode = exitCodes.done;
  const asked = withHelp(argv);
  const called = entries.find(entry => nameOf(entry) === asked[0]);
  try {
    const program = await buildProgram(entries, called, {
      terminal,
      signals,
      // A checkout runs its sources, and has no command of its own on the PATH.
      self: [process.execPath, import.meta.filename, CHILD_COMMAND],
      end(ended) {
        code = ended;
      },
    });
    await program.parseAsync(asked, { from: 'user' });
    return signals.exitCode ?? code;
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return exitCodes.done;
    const { thrownError } = await import('./thrown-error.ts');
    const error = thrownError(thrown, called && nameOf(called));
    reportError(terminal, error, argv.includes('--json'));
    if (error.code === 'command/unexpected' && thrown instanceof Error && thrown.stack !== undefined)
      terminal.complain(thrown.stack);
    return signals.exitCode ?? exitCodeOf(error);
  } finally {
    signals.release();
  }
}

/** Nothing at all asks for help, and so does the word. */
function withHelp(argv: readonly string[]): readonly string[] {
  const [first, ...rest] = argv;
  return first === undefined || first === 'help' ? [...rest, '--help'] : argv;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
