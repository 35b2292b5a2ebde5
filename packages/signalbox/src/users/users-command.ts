import { type ErrorEnvelope, openUsers, usageError } from '@signalbox/app';
import { type Result, thisMachine } from '@signalbox/app/runs';
import type { DefineCommand } from '../command.ts';
import {
  askedDataDirectory,
  DATA_DIR_OPTION,
  type DataFlags,
  writableDataDirectory,
} from '../data-directory-option.ts';
import { exitCodeOf, exitCodes } from '../exit-code.ts';
import { reportError } from '../terminal.ts';

export const defineUsers: DefineCommand = (command, { terminal, end }) => {
  const usersOf = ({ dataDir }: DataFlags) => openUsers(askedDataDirectory(dataDir), thisMachine());
  const writableUsersOf = ({ dataDir }: DataFlags) => openUsers(writableDataDirectory(dataDir), thisMachine());
  const tell = <T>({ json = false }: DataFlags, outcome: Result<T, ErrorEnvelope>, print: (value: T) => void) => {
    if (outcome.ok) {
      print(outcome.value);
      return end(exitCodes.done);
    }
    reportError(terminal, outcome.error, json);
    end(exitCodeOf(outcome.error));
  };

  command
    .description(
      'Gives people tokens of their own for "signalbox serve", so that the events of a run name who did what. Whoever has the ' +
        'token of the data directory itself is "operator".',
    )
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox users add ada
  $ signalbox users ls
  $ signalbox users remove ada`,
    )
    .action(() => {
      reportError(terminal, usageError('Which of them?', 'See "signalbox users --help".'), false);
      end(exitCodes.usage);
    });

  command
    .command('add <name>')
    .summary('add a user, and print the token once')
    .description(
      'Adds a user and prints the token, once: only a digest of it is kept. A server that runs knows it at once.',
    )
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the user and the token as JSON')
    .action((name: string, flags: DataFlags) =>
      tell(flags, writableUsersOf(flags).add(name), ({ user, token }) =>
        terminal.print(
          flags.json
            ? JSON.stringify({ ...user, token })
            : `${token}\nThis is the token of ${user.name}. It is not shown again.`,
        ),
      ),
    );

  command
    .command('ls')
    .summary('list the users')
    .description('Lists the users, and since when they are there.')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print one user a line as JSON')
    .action((flags: DataFlags) =>
      tell(flags, usersOf(flags).list(), users => {
        for (const user of users) {
          terminal.print(flags.json ? JSON.stringify(user) : `${user.name}  since ${user.addedAt}`);
        }
      }),
    );

  command
    .command('remove <name>')
    .summary('remove a user: the token counts no more')
    .description(
      'Removes a user. The token counts no more, also for a server that runs; what the user did stays in the events.',
    )
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the user as JSON')
    .action((name: string, flags: DataFlags) =>
      tell(flags, writableUsersOf(flags).remove(name), user =>
        terminal.print(flags.json ? JSON.stringify(user) : `${user.name} is no user any more.`),
      ),
    );
};
