import type { ErrorEnvelope } from '@signalbox/app';
import { findSession, listSessions } from '@signalbox/app/guided';
import type { DefineCommand } from '../command.ts';
import {
  askedDataDirectory,
  DATA_DIR_OPTION,
  type DataFlags,
  writableDataDirectory,
} from '../data-directory-option.ts';
import { type ExitCode, exitCodeOf, exitCodes } from '../exit-code.ts';
import { paintOf, reportError } from '../terminal.ts';
import { keepNamed } from './keep-session.ts';
import { describeSessions } from './session-list-report.ts';

export const defineSessions: DefineCommand = (command, { terminal, end }) => {
  const tell = (flags: DataFlags, outcome: ExitCode | ErrorEnvelope) => {
    if (typeof outcome === 'number') return end(outcome);
    reportError(terminal, outcome, flags.json ?? false);
    end(exitCodeOf(outcome));
  };

  command
    .description(
      'Lists guided sessions, most recently written first: their runs, the place of each, and what waits for you. "signalbox show" ' +
        'shows one of them.',
    )
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print one JSON object per line')
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox sessions
  $ signalbox sessions keep 019b8d62       never delete it for its age; an id prefix is enough
  $ signalbox sessions unkeep 019b8d62

Exit codes: 0 done, 1 failed, 2 usage.`,
    )
    .action((flags: DataFlags) => {
      const listed = listSessions({ dataDirectory: askedDataDirectory(flags.dataDir) });
      if (!listed.ok) return tell(flags, listed.error);
      if (flags.json) for (const session of listed.value) terminal.print(JSON.stringify(session));
      else if (listed.value.length === 0) terminal.print('No guided sessions yet.');
      else terminal.print(describeSessions(listed.value, paintOf(terminal)));
      end(exitCodes.done);
    });

  for (const [name, keep, summary] of [
    ['keep', true, 'keep a session, whatever its age'],
    ['unkeep', false, 'let a kept session expire again'],
  ] as const) {
    command
      .command(`${name} <session>`)
      .summary(summary)
      .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`)
      .option(...DATA_DIR_OPTION)
      .option('--json', 'print the new state as JSON')
      // The parent has the same options, and commander gives them to it.
      .action(async (given: string, _flags: DataFlags, self: { optsWithGlobals(): DataFlags }) => {
        const flags = self.optsWithGlobals();
        const dataDirectory = writableDataDirectory(flags.dataDir);
        const session = findSession({ dataDirectory }, given);
        if (!session.ok) return tell(flags, session.error);
        end(await keepNamed(dataDirectory, session.value, flags, keep, terminal));
      });
  }
};
