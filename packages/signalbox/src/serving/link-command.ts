import { usageError } from '@signalbox/app';
import type { DefineCommand } from '../command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from '../data-directory-option.ts';
import { exitCodeOf, exitCodes } from '../exit-code.ts';
import { reportError } from '../terminal.ts';
import { ownerClient } from '../users/owner-client.ts';

export const defineLink: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Prints a link to the console of the server for this data directory. It works once, within ten minutes, and contains no ' +
        'token.',
    )
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the link and its expiry as JSON')
    .addHelpText('after', '\nExample:\n  $ signalbox link')
    .action(async ({ dataDir, json = false }: DataFlags) => {
      const directory = askedDataDirectory(dataDir);
      const owner = await ownerClient(directory);
      const link =
        owner === undefined
          ? {
              ok: false as const,
              error: usageError(`No server is running for ${directory}.`, 'Start one with "signalbox serve".'),
            }
          : await owner.newLink();
      if (link.ok) {
        terminal.print(json ? JSON.stringify(link.value) : link.value.url);
        return end(exitCodes.done);
      }
      reportError(terminal, link.error, json);
      end(exitCodeOf(link.error));
    });
};
