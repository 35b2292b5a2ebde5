import { usageError } from '@signalbox/app';
import { everyListedRun, guidedRunsIn, type ListedRun } from '@signalbox/app/all-runs';
import { type ErrorEnvelope, type Reader, type RunRecord, runStatus, timerWait } from '@signalbox/app/host';
import type { DefineCommand } from './command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from './data-directory-option.ts';
import { type ExitCode, exitCodes } from './exit-code.ts';
import { describeRun } from './look.ts';
import { tellAhead } from './storage/tell-ahead.ts';
import { reportError, shown } from './terminal.ts';
import { withReader } from './with-reader.ts';

interface ListFlags extends DataFlags {
  readonly status?: string[];
  readonly tag?: string;
}

export const defineList: DefineCommand = (command, { terminal, end }) => {
  command
    .option('--status <status...>', 'only runs with these statuses')
    .option('--tag <tag>', 'only runs with this tag')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', '\nExample:\n  $ signalbox ls --status running waiting')
    .action(async (flags: ListFlags) => {
      const unknown = flags.status?.find(given => !runStatus.safeParse(given).success);
      if (unknown !== undefined) {
        const known = `One of: ${runStatus.options.join(', ')}.`;
        reportError(terminal, usageError(`${unknown} is not a run status.`, known), flags.json ?? false);
        return end(exitCodes.usage);
      }
      const directory = askedDataDirectory(flags.dataDir);
      const list = async (reader?: Reader): Promise<ExitCode | ErrorEnvelope> => {
        const guided = await guidedRunsIn(directory);
        if (!guided.ok) return guided.error;
        const status = flags.status as RunRecord['status'][] | undefined;
        const filter = { ...(status && { status }), ...(flags.tag && { tag: flags.tag }) };
        const open = Map.groupBy((await reader?.decisions({ status: ['open'] })) ?? [], ({ run }) => run);
        for await (const run of everyListedRun(reader, guided.value, filter)) {
          const until = reader && run.kind === 'plan' ? await timerWait(reader, run.record) : undefined;
          terminal.print(
            flags.json
              ? JSON.stringify({ ...run.record, until })
              : describeListed(run, until, open.get(run.record.id)?.length ?? 0),
          );
        }
        if (reader === undefined && guided.value.length === 0 && flags.json !== true) {
          terminal.print('No runs yet.');
        }
        return exitCodes.done;
      };
      const withoutDatabase = () => {
        // Journals without a database are of one that was lost.
        tellAhead(terminal, directory);
        return list();
      };
      end(await withReader(terminal, flags, list, withoutDatabase));
    });
};

/** An agent elsewhere walks a guided run: it has a step where others have frames. */
function describeListed(run: ListedRun, until: string | undefined, openDecisions: number): string {
  if (run.kind === 'plan') return describeRun(run.record, until, openDecisions);
  const { id, status, name, createdAt } = run.record;
  const step = run.guided?.pendingStep;
  const at = step ? `  at ${shown(step.title)}` : '';
  return `${id}  ${status.padEnd(9)}  ${shown(name)}  ${createdAt}  guided${at}`;
}
