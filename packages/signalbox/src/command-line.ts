import { isMainThread } from 'node:worker_threads';
import type { Launch, Program } from '@signalbox/app';
import { CommanderError } from 'commander';
import type { CommandEntry } from './command.ts';
import { endSignals } from './end-signals.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-code.ts';
import { buildProgram, nameOf } from './program.ts';
import { reportError, type Terminal } from './terminal.ts';

/** Arguments in, exit code out. The only place that catches thrown errors. */
export async function runCommandLine(
  argv: readonly string[],
  terminal: Terminal,
  entries: readonly CommandEntry[],
  self: Program,
  launch: Launch = {},
): Promise<number> {
  if (isMainThread) keepOwnRights();
  const signals = endSignals();
  let code: ExitCode = exitCodes.done;
  const asked = withHelp(argv);
  const called = entries.find(entry => nameOf(entry) === asked[0]);
  try {
    const program = await buildProgram(entries, called, {
      terminal,
      signals,
      self,
      launch,
      end(ended) {
        code = ended;
      },
    });
    await program.parseAsync(asked, { from: 'user' });
    return signals.exitCode ?? code;
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return exitCodes.done;
    const { thrownError } = await import('./thrown-error.ts');
    const error = thrownError(thrown, called && nameOf(called), asked);
    reportError(terminal, error, argv.includes('--json'));
    if (error.code === 'command/unexpected' && thrown instanceof Error && thrown.stack !== undefined)
      terminal.complain(thrown.stack);
    return signals.exitCode ?? exitCodeOf(error);
  } finally {
    signals.release();
  }
}

/** A umask that takes rights from the owner is a mistake: we could not read our own files. */
function keepOwnRights(): void {
  process.umask(process.umask(0o077) & 0o077);
}

/** No arguments, or `help`, prints the help. */
function withHelp(argv: readonly string[]): readonly string[] {
  const [first, ...rest] = argv;
  return first === undefined || first === 'help' ? [...rest, '--help'] : argv;
}
