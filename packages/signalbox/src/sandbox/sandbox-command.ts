import { statSync } from 'node:fs';
import path from 'node:path';
import { checkView, openAcceptedRules, usageError } from '@signalbox/app';
import { thisMachine } from '@signalbox/app/host';
import type { DefineCommand } from '../command.ts';
import {
  askedDataDirectory,
  DATA_DIR_OPTION,
  type DataFlags,
  writableDataDirectory,
} from '../data-directory-option.ts';
import { describeChecks } from '../doctor-command.ts';
import { exitCodeOf, exitCodes } from '../exit-code.ts';
import { paintOf, reportError } from '../terminal.ts';

export const defineSandbox: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      "Shows what agents' commands may read and change in a directory, which credentials are hidden from them, and their limits. " +
        'A project can allow more in .signalbox/sandbox.json, which takes effect once a person accepts it.',
    )
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the report as one line of JSON')
    .addHelpText(
      'after',
      `
Examples:
  $ signalbox sandbox
  $ signalbox sandbox ~/work/project --json
  $ signalbox sandbox accept ~/work/project

Exit codes: 0 no failures, 1 the project's file cannot be used, 2 usage.`,
    )
    .action((directory: string | undefined, flags: DataFlags) => {
      const root = path.resolve(directory ?? '.');
      if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) {
        reportError(
          terminal,
          usageError(`${root} is not a directory.`, 'Give an existing directory.'),
          flags.json ?? false,
        );
        return end(exitCodes.usage);
      }
      const checks = checkView(askedDataDirectory(flags.dataDir), root);
      terminal.print(flags.json ? JSON.stringify({ checks }) : describeChecks(checks, paintOf(terminal)).join('\n'));
      end(checks.every(check => check.status !== 'fail') ? exitCodes.done : exitCodes.failed);
    });

  command
    .command('accept [dir]')
    .summary("accept the current version of a project's sandbox.json")
    .description(
      'Accepts the current version of .signalbox/sandbox.json in a directory or its nearest parent that has one. After a change ' +
        'to the file, commands are refused until it is accepted again.',
    )
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the file, its digest and what it allows as JSON')
    .action((directory: string | undefined, _: DataFlags, own: { optsWithGlobals(): DataFlags }) => {
      const flags = own.optsWithGlobals();
      const rules = openAcceptedRules(writableDataDirectory(flags.dataDir));
      const accepted = rules.accept(path.resolve(directory ?? '.'), thisMachine().clock);
      if (!accepted.ok) {
        reportError(terminal, accepted.error, flags.json ?? false);
        return end(exitCodeOf(accepted.error));
      }
      const { file, digest } = accepted.value;
      terminal.print(flags.json ? JSON.stringify(accepted.value) : `Accepted ${file} (sha256 ${digest.slice(0, 12)}).`);
      end(exitCodes.done);
    });
};
