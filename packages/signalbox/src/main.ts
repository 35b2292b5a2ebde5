import { CommanderError } from 'commander';
import { addChildCommand } from './child-command.ts';
import { type AddCommand, CHILD_COMMAND } from './command.ts';
import { addDemoCommand } from './demo-command.ts';
import { addDoctorCommand } from './doctor-command.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-code.ts';
import {
  addEventsCommand,
  addFramesCommand,
  addListCommand,
  addShowCommand,
  addStateCommand,
  addTransitionsCommand,
} from './look-commands.ts';
import { buildProgram } from './program.ts';
import { addResumeCommand, addRunCommand } from './run-command.ts';
import { hostTerminal, reportError, type Terminal } from './terminal.ts';
import { usageProblem } from './usage-problem.ts';
import { addVerifyCommand } from './verify-command.ts';

const allCommands: readonly AddCommand[] = [
  addRunCommand,
  addResumeCommand,
  addListCommand,
  addShowCommand,
  addStateCommand,
  addFramesCommand,
  addTransitionsCommand,
  addEventsCommand,
  addVerifyCommand,
  addDoctorCommand,
  addDemoCommand,
  addChildCommand,
];

/** The whole program: arguments in, exit code out. The only place where what was thrown is caught. */
export async function main(
  argv: readonly string[],
  terminal: Terminal = hostTerminal(),
  commands: readonly AddCommand[] = allCommands,
): Promise<ExitCode> {
  let code: ExitCode = exitCodes.done;
  const program = buildProgram(commands, {
    terminal,
    // A checkout runs its sources, and has no command of its own on the PATH.
    calledAs: import.meta.filename.endsWith('.ts') ? 'npm run --silent signalbox --' : 'signalbox',
    self: [process.execPath, import.meta.filename, CHILD_COMMAND],
    end(ended) {
      code = ended;
    },
  });
  try {
    await program.parseAsync(withHelp(argv), { from: 'user' });
    return code;
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.exitCode === 0) return exitCodes.done;
    const { unexpectedError, usageError } = await import('@signalbox/app');
    const asJson = argv.includes('--json');
    if (thrown instanceof CommanderError) {
      const command = program.commands.find(known => known.name() === argv[0])?.name();
      const { message, suggestion } = usageProblem(thrown, command);
      const error = usageError(message, suggestion);
      reportError(terminal, error, asJson);
      return exitCodeOf(error);
    }
    const error = unexpectedError(thrown);
    reportError(terminal, error, asJson);
    if (thrown instanceof Error && thrown.stack !== undefined) terminal.complain(thrown.stack);
    return exitCodeOf(error);
  }
}

/** Nothing at all asks for help, and so does the word. */
function withHelp(argv: readonly string[]): readonly string[] {
  const [first, ...rest] = argv;
  return first === undefined || first === 'help' ? [...rest, '--help'] : argv;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
