import { type RepairReport, repairHome, thisMachine } from '@signalbox/app/host';
import type { DefineCommand } from './command.ts';
import { DATA_DIR_OPTION, type DataFlags, writableDataDirectory } from './data-directory-option.ts';
import { exitCodeOf, exitCodes } from './exit-code.ts';
import { type Paint, paintOf, reportError, shown } from './terminal.ts';

interface RepairFlags extends DataFlags {
  readonly dryRun?: boolean;
  readonly fromJournals?: boolean;
  readonly yes?: boolean;
}

export const defineRepair: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Rebuilds the database: rows that differ from their run’s log are rewritten from the log, and missing or truncated runs are ' +
        'restored from their journals. Logs are never changed: a run with a damaged log is reported and left alone. No other process ' +
        'may use the data directory meanwhile.',
    )
    .option('--dry-run', 'only report what would be done')
    .option('--from-journals', 'set the database aside and rebuild it from journals and blobs')
    .option('--yes', 'rebuild from journals even if they lack records that the database holds')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the report, or the error, as one line of JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox repair --dry-run
  $ signalbox repair
  $ signalbox repair --from-journals     if the database file itself is damaged

Exit codes: 0 everything matches its log, 1 something could not be repaired, 2 usage, 4 refused.`,
    )
    .action((flags: RepairFlags) => {
      const { dryRun = false, fromJournals = false, yes = false, json = false } = flags;
      const dataDirectory = writableDataDirectory(flags.dataDir);
      const done = repairHome({ dataDirectory, machine: thisMachine(), dryRun, fromJournals, acceptsLoss: yes });
      if (!done.ok) {
        reportError(terminal, done.error, json);
        return end(exitCodeOf(done.error));
      }
      terminal.print(
        json ? JSON.stringify(done.value) : describeRepair(done.value, paintOf(terminal), commandOf(flags)),
      );
      end(done.value.ok ? exitCodes.done : exitCodes.failed);
    });
};

/** The command that does what a dry run foresees. */
function commandOf({ fromJournals, yes }: RepairFlags): string {
  return ['signalbox repair', fromJournals && '--from-journals', yes && '--yes'].filter(Boolean).join(' ');
}

function describeRepair(report: RepairReport, paint: Paint, command: string): string {
  const {
    ok,
    dryRun,
    runs,
    rebuilt,
    restored,
    removed,
    damaged,
    missing,
    aside,
    projects,
    schema = [],
    lost = [],
  } = report;
  const changes =
    rebuilt.length +
    restored.length +
    removed.length +
    schema.length +
    (projects?.rebuilt.length ?? 0) +
    (projects?.restored.length ?? 0);
  const faults = [...(projects?.damaged ?? []), ...(projects?.missing ?? [])];
  return [
    ...(aside === undefined ? [] : [`  aside     ${shown(aside)}`]),
    ...schema.map(what => `  restored  ${shown(what)} of the schema`),
    ...rebuilt.map(run => `  rebuilt   ${run}`),
    ...restored.map(({ run, records }) => `  restored  ${run}, ${records} records from its journal`),
    ...lost.map(({ log, records, of }) => `  lost      ${log}, ${records} of ${of} records: no journal has them`),
    ...removed.map(what => `  removed   ${shown(what)}`),
    ...damaged.map(({ run, what }) => paint.bad(`✗ ${run}: ${shown(what)}`)),
    ...missing.map(({ run, what }) => paint.bad(`✗ ${run}: ${shown(what)}`)),
    ...(projects?.rebuilt ?? []).map(project => `  rebuilt   project ${project}`),
    ...(projects?.restored ?? []).map(
      ({ project, records }) => `  restored  project ${project}, ${records} records from its journal`,
    ),
    ...faults.map(({ project, what }) => paint.bad(`✗ project ${project}: ${shown(what)}`)),
    ...(dryRun && changes > 0 ? [`Nothing was changed. Run "${command}" to do this.`] : []),
    ...(ok && !(dryRun && changes > 0) ? [paint.good(`✓ all ${runs} runs match their logs`)] : []),
    ...(ok
      ? []
      : [
          paint.bad('Some runs could not be repaired.'),
          'If their journals are intact ("signalbox doctor --deep"), "signalbox repair --from-journals" rebuilds them. Otherwise restore them from a backup or an export.',
        ]),
  ].join('\n');
}
