import { usageError } from '@signalbox/app';
import { everyListedRun, guidedRunsIn, type ListedRun } from '@signalbox/app/all-runs';
import {
  type ErrorEnvelope,
  isLostDatabase,
  type Reader,
  type RunRecord,
  runStatus,
  timerWait,
} from '@signalbox/app/host';
import type { DefineCommand } from './command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from './data-directory-option.ts';
import { type ExitCode, exitCodes } from './exit-code.ts';
import type { ListedRow } from './list/run-table.ts';
import { describeRun } from './look.ts';
import { tellAhead } from './storage/tell-ahead.ts';
import { paintOf, reportError, shown } from './terminal.ts';
import { withReader } from './with-reader.ts';

interface ListFlags extends DataFlags {
  readonly status?: string[];
  readonly tag?: string;
  readonly watch?: boolean;
}

export const defineList: DefineCommand = (command, { terminal, signals, end }) => {
  command
    .option('--status <status...>', 'only runs with these statuses')
    .option('--tag <tag>', 'only runs with this tag')
    .option('-w, --watch', 'keep the list up to date until interrupted; in a pipe, print a line for each change')
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
      const rowsOf = async (reader?: Reader): Promise<readonly ListedRow[] | ErrorEnvelope> => {
        const guided = await guidedRunsIn(directory);
        if (!guided.ok) return guided.error;
        const status = flags.status as RunRecord['status'][] | undefined;
        const filter = { ...(status && { status }), ...(flags.tag && { tag: flags.tag }) };
        const open = Map.groupBy((await reader?.decisions({ status: ['open'] })) ?? [], ({ run }) => run);
        const rows: ListedRow[] = [];
        for await (const run of everyListedRun(reader, guided.value, filter)) {
          const until = reader && run.kind === 'plan' ? await timerWait(reader, run.record) : undefined;
          rows.push({ run, until, openDecisions: open.get(run.record.id)?.length ?? 0 });
        }
        return rows;
      };
      const lineOf = ({ run, until, openDecisions }: ListedRow) =>
        flags.json ? JSON.stringify({ ...run.record, until }) : describeListed(run, until, openDecisions);
      const list = async (reader?: Reader, isLost = false): Promise<ExitCode | ErrorEnvelope> => {
        if (flags.watch === true) {
          const { watchList } = await import('./list/watch-list.ts');
          return watchList({ terminal, json: flags.json ?? false, lineOf, ending: signals.ending() }, () =>
            rowsOf(reader),
          );
        }
        const rows = await rowsOf(reader);
        if ('code' in rows) return rows;
        if (rows.length === 0 && reader === undefined && !isLost && flags.json !== true) terminal.print('No runs yet.');
        if (rows.length > 0 && terminal.screen !== undefined && flags.json !== true) {
          const { runTable } = await import('./list/run-table.ts');
          const { width } = terminal.screen.size();
          terminal.print(runTable(rows, { now: terminal.screen.now(), width, paint: paintOf(terminal) }).join('\n'));
        } else for (const row of rows) terminal.print(lineOf(row));
        return exitCodes.done;
      };
      const withoutDatabase = (missing: ErrorEnvelope) => {
        // A list that is watched says it first, any other at its end.
        if (flags.watch === true) tellAhead(terminal, directory);
        return list(undefined, isLostDatabase(missing));
      };
      end(await withReader(terminal, flags, reader => list(reader), withoutDatabase));
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
