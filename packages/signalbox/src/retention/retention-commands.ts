import { findPlanRun } from '@signalbox/app/all-runs';
import type { ErrorEnvelope } from '@signalbox/app/host';
import type { CommandContext, DefineCommand } from '../command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from '../data-directory-option.ts';
import { exitCodes } from '../exit-code.ts';
import { keepIfSession } from '../guided/keep-session.ts';
import { withOwner } from '../owner/with-owner.ts';
import { paintOf, shown } from '../terminal.ts';
import { describeCollection } from './collect-report.ts';

interface CollectFlags extends DataFlags {
  readonly dryRun?: boolean;
  readonly compact?: boolean;
}

export const defineKeep: DefineCommand = (command, context) => {
  command.description(
    'Keeps a run or a guided session however old it gets: "signalbox gc" does not touch it or its sub-plans.',
  );
  keeping(command, context, true);
};

export const defineUnkeep: DefineCommand = (command, context) => {
  command.description(
    'Lets a kept run or guided session expire again. Nothing happens before the next "signalbox gc".',
  );
  keeping(command, context, false);
};

export const defineGc: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Removes expired data: runs are collapsed to their significant frames 30 days after they ended, and removed after 90, with ' +
        'blobs, folders and workspaces that nothing else needs. Kept runs, and runs that forks need, stay. Set the periods under ' +
        '"retention" in config.json in the data directory.',
    )
    .option('--dry-run', 'only show what would be removed, and its size')
    .option('--compact', 'rewrite the database to return free space to the disk')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the report as JSON')
    .addHelpText('after', '\nExample:\n  $ signalbox gc --dry-run')
    .action(async (flags: CollectFlags) => {
      const { dryRun = false, compact = false, json = false } = flags;
      end(
        await withOwner(terminal, { ...flags, makesRoom: true }, async (owner): Promise<0 | ErrorEnvelope> => {
          const done = await owner.collect({ dryRun, compact });
          if (!done.ok) return done.error;
          terminal.print(
            json ? JSON.stringify(done.value) : describeCollection(done.value, paintOf(terminal)).join('\n'),
          );
          return exitCodes.done;
        }),
      );
    });
};

function keeping(command: Parameters<DefineCommand>[0], { terminal, end }: CommandContext, isKept: boolean): void {
  command
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the outcome as JSON')
    .addHelpText('after', `\nExample:\n  $ signalbox ${command.name()} 019b8d62     an id prefix is enough`)
    .action(async (given: string, flags: DataFlags) => {
      const session = await keepIfSession(given, flags, isKept, terminal);
      if (session !== undefined) return end(session);
      end(
        await withOwner(terminal, flags, async (owner): Promise<0 | ErrorEnvelope> => {
          const run = await findPlanRun(owner.reader, askedDataDirectory(flags.dataDir), given);
          if (!run.ok) return run.error;
          const { id, name } = run.value;
          const done = await owner.keep(id, isKept);
          if (!done.ok) return done.error;
          const word = isKept ? 'kept' : 'not kept';
          terminal.print(flags.json ? JSON.stringify({ run: id, kept: isKept }) : `${id}  ${word}  ${shown(name)}`);
          return exitCodes.done;
        }),
      );
    });
}
