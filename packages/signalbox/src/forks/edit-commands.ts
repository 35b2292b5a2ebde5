import { usageError } from '@signalbox/app';
import { findPlanRun } from '@signalbox/app/all-runs';
import type { ErrorEnvelope } from '@signalbox/app/host';
import type { DefineCommand } from '../command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from '../data-directory-option.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import { parseJson } from '../json-argument.ts';
import { withOwner } from '../owner/with-owner.ts';
import { shown } from '../terminal.ts';

interface EditFlags extends DataFlags {
  readonly reason?: string;
  readonly delete?: boolean;
  readonly op?: string;
}

const OPS = ['increment', 'append', 'merge'] as const;

export const defineEdit: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      "Changes a key of a run's durable state, if the plan allows it. The run's events record who did it and why, its transitions " +
        'both values; an active run is rendered again at once.',
    )
    .requiredOption('--reason <text>', 'why, for later readers')
    .option('--delete', 'delete the key')
    .option('--op <op>', 'increment, append or merge: how to combine the value with the current one')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the outcome as JSON')
    .addHelpText(
      'after',
      `\nExamples:\n  $ signalbox edit 019b8d62 attempts 0 --reason "the network is back"
  $ signalbox edit 019b8d62 attempts 1 --op increment --reason "counted by hand"`,
    )
    .action(async (given: string, key: string, text: string | undefined, flags: EditFlags) => {
      end(
        await withOwner(terminal, flags, async (owner): Promise<ExitCode | ErrorEnvelope> => {
          if ((text === undefined) !== (flags.delete === true)) {
            return usageError('Give either a value or --delete.', 'Example: signalbox edit RUN phase \'"review"\'');
          }
          const op = OPS.find(each => each === flags.op);
          if (op !== flags.op || (op !== undefined && text === undefined)) {
            return usageError(
              '--op must be increment, append or merge, and needs a value.',
              'Example: signalbox edit RUN n 1 --op increment',
            );
          }
          const value = text === undefined ? undefined : parseJson(text);
          if (value?.ok === false) {
            return usageError('The value is not JSON.', `Quote it for your shell: '"text"', '{"key": "value"}'.`);
          }
          const run = await findPlanRun(owner.reader, askedDataDirectory(flags.dataDir), given);
          if (!run.ok) return run.error;
          const { id, frames } = run.value;
          const before = await owner.reader.valueAt(id, 'state', key, frames);
          const edit = { kind: 'edit', key, op, value: value?.value, reason: flags.reason ?? '' } as const;
          const edited = await owner.act(id, edit);
          if (!edited.ok) return edited.error;
          const now = (await owner.reader.run(id)) ?? run.value;
          const after = op === undefined ? value?.value : await owner.reader.valueAt(id, 'state', key, now.frames);
          const lines = [
            ...(before === undefined ? [] : [`- ${shown(key)} = ${shown(JSON.stringify(before))}`]),
            ...(after === undefined ? [] : [`+ ${shown(key)} = ${shown(JSON.stringify(after))}`]),
          ];
          const { status } = now;
          terminal.print(flags.json ? JSON.stringify({ run: id, status, key, before, after }) : lines.join('\n'));
          return exitCodes.done;
        }),
      );
    });
};
