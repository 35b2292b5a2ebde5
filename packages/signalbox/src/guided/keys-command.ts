import { type ErrorEnvelope, usageError } from '@signalbox/app';
import { listTokenKeys, rotateTokenKeys, type TokenKey } from '@signalbox/app/guided';
import { type Result, thisMachine } from '@signalbox/app/host';
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
    if (outcome.value.length === 0 && !json) terminal.print('No keys yet: the first token creates one.');
    for (const key of outcome.value) terminal.print(json ? JSON.stringify(key) : `${key.role.padEnd(8)}  ${key.name}`);
    end(exitCodes.done);
  };

  command
    .description(
      'Manages the keys that sign the tokens of guided sessions. Tokens are handles: an agent finds a run whose tokens are void again ' +
        'with the tool resume_session.',
    )
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox keys ls
  $ signalbox keys rotate     twice in a row voids every earlier token

Exit codes: 0 done, 1 failed, 2 usage.`,
    )
    .action(() => {
      reportError(terminal, usageError('Name a subcommand.', 'See "signalbox keys --help".'), false);
      end(exitCodes.usage);
    });

  command
    .command('ls')
    .summary('list the keys by names that reveal nothing')
    .description('Lists the keys, current and previous, by names that reveal nothing.')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print one JSON object per line')
    .action((flags: DataFlags) => {
      const { rng } = thisMachine();
      tell(flags, listTokenKeys({ dataDirectory: askedDataDirectory(flags.dataDir), rng }));
    });

  command
    .command('rotate')
    .summary('create a new key; tokens of the previous key stay valid until the next rotation')
    .description('Creates a new key for new tokens. Tokens of the previous key stay valid until the next rotation.')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print one JSON object per line')
    .action(async (flags: DataFlags) => {
      const { rng } = thisMachine();
      tell(flags, await rotateTokenKeys({ dataDirectory: writableDataDirectory(flags.dataDir), rng }));
    });
};
