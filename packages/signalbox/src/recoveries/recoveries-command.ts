import { usageError } from '@signalbox/app';
import { openRecoveryBook, thisMachine } from '@signalbox/app/host';
import type { DefineCommand } from '../command.ts';
import {
  askedDataDirectory,
  DATA_DIR_OPTION,
  type DataFlags,
  writableDataDirectory,
} from '../data-directory-option.ts';
import { exitCodeOf, exitCodes } from '../exit-code.ts';
import { paintOf, reportError } from '../terminal.ts';
import { describeRecovery } from './recovery-report.ts';

interface RecoveriesFlags extends DataFlags {
  readonly dismiss?: string;
  readonly dismissAll?: boolean;
}

export const defineRecoveries: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Lists tool calls that were under way when a process ended, and how the next start recovered them: run, call, outcome and ' +
        'paths. An entry stays for 30 days or until you dismiss it; a failed recovery stays until it succeeds.',
    )
    .option('--dismiss <call>', 'dismiss this entry')
    .option('--dismiss-all', 'dismiss all entries except failed ones')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', '\nExamples:\n  $ signalbox recoveries\n  $ signalbox recoveries --dismiss-all')
    .action(({ dataDir, json = false, dismiss, dismissAll = false }: RecoveriesFlags) => {
      const refuse = (error: Parameters<typeof exitCodeOf>[0]) => {
        reportError(terminal, error, json);
        return end(exitCodeOf(error));
      };
      if (dismiss !== undefined && dismissAll) {
        return refuse(usageError('Give --dismiss or --dismiss-all, not both.', 'See "signalbox recoveries --help".'));
      }
      const isDismissing = dismiss !== undefined || dismissAll;
      const directory = isDismissing ? writableDataDirectory(dataDir) : askedDataDirectory(dataDir);
      const book = openRecoveryBook(directory, thisMachine().clock);
      const named = dismiss === undefined ? [] : [dismiss];
      const all = () => book.list().flatMap(({ id, outcome }) => (outcome === 'failed' ? [] : [id]));
      for (const id of new Set(dismissAll ? all() : named)) {
        const dismissed = book.dismiss(id);
        if (!dismissed.ok) return refuse(dismissed.error);
      }
      if (isDismissing) return end(exitCodes.done);
      const notes = book.list();
      if (json) for (const note of notes) terminal.print(JSON.stringify(note));
      else if (notes.length === 0) terminal.print('No interrupted tool calls.');
      else terminal.print(notes.map(note => describeRecovery(note, paintOf(terminal))).join('\n'));
      end(exitCodes.done);
    });
};
