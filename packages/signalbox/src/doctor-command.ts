import { type Check, type DoctorReport, doctor } from '@signalbox/app';
import type { DefineCommand } from './command.ts';
import { namedDataDirectory } from './data-directory-option.ts';
import { exitCodes } from './exit-code.ts';
import { type Paint, paintOf, shown } from './terminal.ts';

interface DoctorFlags {
  readonly dataDir?: string;
  readonly deep?: boolean;
  readonly json?: boolean;
}

export const defineDoctor: DefineCommand = (command, { terminal, self, end }) => {
  command
    .description(
      'Checks Node, SQLite and git, and tests what Signalbox needs of the data directory: that it is private and writable, that ' +
        "a lock holds between processes and is released when its holder dies, and that fsync works. Shows what agents' commands could " +
        'read in this directory. Leaves nothing behind.',
    )
    .option('--data-dir <dir>', 'the data directory to check, instead of SIGNALBOX_DATA_DIR or the default')
    .option('--deep', 'also check the database file, every log, row, blob and journal')
    .option('--json', 'print the report as one line of JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox doctor
  $ signalbox doctor --deep
  $ signalbox doctor --data-dir /mnt/disk/signalbox --json

Exit codes: 0 no failures, 1 something failed, 2 usage.`,
    )
    .action(async ({ dataDir, deep = false, json = false }: DoctorFlags) => {
      const directory = namedDataDirectory(dataDir);
      const report = await doctor({ dataDir: directory, program: self, deep });
      terminal.print(json ? JSON.stringify(report) : describeDoctor(report, paintOf(terminal)));
      end(report.ok ? exitCodes.done : exitCodes.failed);
    });
};

export function describeDoctor({ ok, checks }: DoctorReport, paint: Paint): string {
  const verdict = ok ? paint.good('Signalbox can work here.') : paint.bad('Signalbox cannot work reliably here yet.');
  return [...describeChecks(checks, paint), '', verdict].join('\n');
}

export function describeChecks(checks: readonly Check[], paint: Paint): readonly string[] {
  const marks = { ok: paint.good('✓'), warn: paint.doubtful('!'), fail: paint.bad('✗') };
  const width = Math.max(...checks.map(check => check.name.length));
  return checks.flatMap(({ name, status, found, advice }) => [
    `${marks[status]} ${name.padEnd(width)}  ${shown(found)}`,
    ...(advice === undefined ? [] : [`  ${' '.repeat(width)}  ${shown(advice)}`]),
  ]);
}
