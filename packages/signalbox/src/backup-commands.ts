import {
  type BackupReport,
  backupHome,
  type ErrorEnvelope,
  type Result,
  restoreHome,
  thisMachine,
} from '@signalbox/app/host';
import type { CommandContext, DefineCommand } from './command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags, writableDataDirectory } from './data-directory-option.ts';
import { exitCodeOf, exitCodes } from './exit-code.ts';
import { describeBytes } from './retention/byte-count.ts';
import { type Paint, paintOf, reportError, shown } from './terminal.ts';

export const defineBackup: DefineCommand = (command, context) => {
  command
    .description(
      'Copies the data directory into an empty directory: database, blobs, journals, sessions and keys. Signalbox may keep running. The copy is ' +
        'checked and records the head of every log. It contains secrets: keep it as private as the data directory.',
    )
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the report, or the error, as one line of JSON')
    .addHelpText(
      'after',
      '\nExample:\n  $ signalbox backup /mnt/backups/2026-01-31\n\nExit codes: 0 done, 1 failed or damaged, 2 usage.',
    )
    .action((target: string, flags: DataFlags) => {
      const done = backupHome(askedDataDirectory(flags.dataDir), target, thisMachine().clock);
      tell(context, done, flags, 'backed up');
    });
};

export const defineRestore: DefineCommand = (command, context) => {
  command
    .description(
      'Copies a backup into the data directory, which must be empty or missing, and compares the head of every log and journal with those that were ' +
        'noted.',
    )
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the report, or the error, as one line of JSON')
    .addHelpText(
      'after',
      '\nExample:\n  $ signalbox restore /mnt/backups/2026-01-31 --data-dir ~/restored\n\nExit codes: 0 done, 1 failed or damaged, 2 usage.',
    )
    .action((backup: string, flags: DataFlags) => {
      tell(context, restoreHome(backup, writableDataDirectory(flags.dataDir)), flags, 'restored');
    });
};

function tell(
  { terminal, end }: CommandContext,
  done: Result<BackupReport, ErrorEnvelope>,
  { json = false }: DataFlags,
  word: string,
): void {
  if (!done.ok) {
    reportError(terminal, done.error, json);
    end(exitCodeOf(done.error));
    return;
  }
  terminal.print(json ? JSON.stringify(done.value) : describeBackup(done.value, word, paintOf(terminal)));
  end(done.value.ok ? exitCodes.done : exitCodes.failed);
}

function describeBackup(
  { ok, directory, runs, sessions, files, bytes, defects }: BackupReport,
  word: string,
  paint: Paint,
): string {
  return [
    ok ? paint.good(`✓ ${word} and verified`) : paint.bad(`✗ ${word}, but the copy is damaged`),
    `  directory  ${shown(directory)}`,
    `  runs       ${runs}`,
    `  sessions   ${sessions}`,
    `  files      ${files}, ${describeBytes(bytes)}`,
    ...defects.map(defect => paint.bad(`✗ ${shown(defect)}`)),
  ].join('\n');
}
