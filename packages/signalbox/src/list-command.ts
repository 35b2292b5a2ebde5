import { usageError } from '@signalbox/app';
import { everyRun, type Reader, type RunRecord, runStatus } from '@signalbox/app/runs';
import type { DefineCommand } from './command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from './data-directory-option.ts';
import { exitCodes } from './exit-code.ts';
import { describeRun } from './look.ts';
import { tellAhead } from './storage/tell-ahead.ts';
import { reportError } from './terminal.ts';
import { withReader } from './with-reader.ts';

interface ListFlags extends DataFlags {
  readonly status?: string[];
  readonly tag?: string;
}

export const defineList: DefineCommand = (command, { terminal, end }) => {
  command
    .option('--status <status...>', 'only those in these statuses')
    .option('--tag <tag>', 'only those with this tag')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print one run a line as JSON')
    .addHelpText('after', '\nExample:\n  $ signalbox ls --status running waiting')
    .action(async (flags: ListFlags) => {
      const unknown = flags.status?.find(given => !runStatus.safeParse(given).success);
      if (unknown !== undefined) {
        const known = `One of: ${runStatus.options.join(', ')}.`;
        reportError(terminal, usageError(`${unknown} is no status of a run.`, known), flags.json ?? false);
        return end(exitCodes.usage);
      }
      const nothing = () => {
        // Journals without a database are of one that was lost.
        tellAhead(terminal, askedDataDirectory(flags.dataDir));
        if (flags.json !== true) terminal.print('There are no runs yet.');
        return exitCodes.done;
      };
      const list = async (reader: Reader) => {
        const status = flags.status as RunRecord['status'][] | undefined;
        const filter = { ...(status && { status }), ...(flags.tag && { tag: flags.tag }) };
        for await (const run of everyRun(reader, filter)) {
          terminal.print(flags.json ? JSON.stringify(run) : describeRun(run));
        }
        return exitCodes.done;
      };
      end(await withReader(terminal, flags, list, nothing));
    });
};
