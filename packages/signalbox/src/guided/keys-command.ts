import { type ErrorEnvelope, usageError } from '@signalbox/app';
import { listTokenKeys, rotateTokenKeys, type TokenKey } from '@signalbox/app/guided';
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

export const defineKeys: DefineCommand = (command, { terminal, end }) => {
  const tell = ({ json = false }: DataFlags, outcome: Result<readonly TokenKey[], ErrorEnvelope>) => {
    if (!outcome.ok) {
      reportError(terminal, outcome.error, json);
      return end(exitCodeOf(outcome.error));
    }
    if (outcome.value.length === 0 && !json) terminal.print('There are no keys yet: the first token makes one.');
    for (const key of outcome.value) terminal.print(json ? JSON.stringify(key) : `${key.role.padEnd(8)}  ${key.name}`);
    end(exitCodes.done);
  };

  command
    .description(
      'Looks after the keys that the tokens of guided sessions are signed with. Tokens are handles: a run whose tokens are void is ' +
        'found again with the tool resume_session.',
    )
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox keys ls
  $ signalbox keys rotate     twice in a row voids every token that was given before

Exit codes: 0 done, 1 failed, 2 usage.`,
    )
    .action(() => {
      reportError(terminal, usageError('Which of them?', 'See "signalbox keys --help".'), false);
      end(exitCodes.usage);
    });

  command
    .command('ls')
    .summary('list the keys by names that say nothing of them')
    .description('Lists the keys by names that say nothing of them: the current one, and the one before it.')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print one key a line as JSON')
    .action((flags: DataFlags) => {
      const { rng } = thisMachine();
      tell(flags, listTokenKeys({ dataDirectory: askedDataDirectory(flags.dataDir), rng }));
    });

  command
    .command('rotate')
    .summary('make a new key; tokens of the one before stay good until the next time')
    .description('Makes a new key for new tokens. Tokens of the key before stay good until the next rotation.')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print one key a line as JSON')
    .action(async (flags: DataFlags) => {
      const { rng } = thisMachine();
      tell(flags, await rotateTokenKeys({ dataDirectory: writableDataDirectory(flags.dataDir), rng }));
    });
};
