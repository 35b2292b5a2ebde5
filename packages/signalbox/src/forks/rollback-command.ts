import { usageError } from '@signalbox/app';
import { findPlanRun } from '@signalbox/app/all-runs';
import {
  type ErrorEnvelope,
  effectsNotAccepted,
  type Rollback,
  type RunId,
  type RunRecord,
  unconfirmedRollback,
} from '@signalbox/app/host';
import type { CommandContext, DefineCommand } from '../command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from '../data-directory-option.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import type { RunOwner } from '../owner/run-owner.ts';
import { withOwner } from '../owner/with-owner.ts';
import { followed } from '../run-command.ts';
import { shown } from '../terminal.ts';
import { changedPaths, shownPath } from './changed-paths.ts';
import { confirm } from './confirm.ts';

interface RollbackFlags extends DataFlags {
  readonly to?: string;
  readonly after?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly acceptEffects?: boolean;
  readonly paused?: boolean;
}

export const defineRollback: DefineCommand = (command, { terminal, signals, end }) => {
  command
    .description(
      "Rolls a run's files, state and transcript back to before a tool call, continues from there in a new run, and follows it " +
        'to its end. It first shows what changes. The old run is stopped and keeps its history. If somebody else changed the same ' +
        'files since, nothing is changed.',
    )
    .option('--to <call>', 'the tool call to go back to; see "signalbox checkpoints"')
    .option('--after', 'go back to right after the call, not before it')
    .option('--dry-run', 'only show what would change')
    .option('--yes', 'skip the confirmation')
    .option('--accept-effects', 'roll back even though later effects outside remain')
    .option('--paused', 'do not start the new run')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print changes, events and the result as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  $ signalbox rollback 019b8d62 --to 5d2b…/1/2/0 --dry-run\n  $ signalbox rollback 019b8d62 --to 5d2b…/1/2/0 --yes',
    )
    .action(async (given: string, flags: RollbackFlags) => {
      const isOnlyMade = flags.paused === true || flags.dryRun === true;
      end(
        await withOwner(terminal, { ...flags, warm: !isOnlyMade }, async owner => {
          const { to } = flags;
          if (to === undefined) {
            return usageError(
              'Name the call to go back to with --to CALL.',
              'List them with: signalbox checkpoints RUN',
            );
          }
          const run = await findPlanRun(owner.reader, askedDataDirectory(flags.dataDir), given);
          return run.ok ? rollback({ terminal, signals }, owner, run.value, { ...flags, to }) : run.error;
        }),
      );
    });
};

async function rollback(
  { terminal, signals }: Pick<CommandContext, 'terminal' | 'signals'>,
  owner: RunOwner,
  run: RunRecord,
  flags: RollbackFlags & { readonly to: string },
): Promise<ExitCode | ErrorEnvelope> {
  const { to: call, after = false, dryRun = false, yes = false, acceptEffects = false, paused = false, json } = flags;
  const planned = await owner.rollback(run.id, { call, after, dryRun: true });
  if (!planned.ok) return planned.error;
  const { frame, effects, run: made } = planned.value;
  if (dryRun) {
    terminal.print(
      json
        ? JSON.stringify(planned.value)
        : ['Would change:', ...changes(planned.value, made !== undefined)].join('\n'),
    );
    return exitCodes.done;
  }
  if (effects.length > 0 && !acceptEffects) return effectsNotAccepted(run, frame, effects);
  if (!yes && made === undefined) {
    for (const line of changes(planned.value, false)) terminal.complain(line);
    if (!(await confirm('Roll back?'))) return unconfirmedRollback(run.id, call, planned.value);
  }
  const begin = async () => {
    const done = await owner.rollback(run.id, { call, after, acceptEffects, paused });
    if (!done.ok) return done;
    if (json) terminal.print(JSON.stringify(done.value));
    else
      terminal.print(
        [
          ...changes(done.value, made !== undefined),
          `${done.value.run} continues from there; ${run.id} has ended`,
        ].join('\n'),
      );
    return { ok: true, value: done.value.run as RunId } as const;
  };
  // A new run from an earlier rollback that has ended or waits is not followed again.
  const isResting = made !== undefined && (await owner.reader.run(made))?.status !== 'paused';
  if (!paused && !isResting) return followed(terminal, flags, owner, 0, begin, signals.ending());
  const done = await begin();
  if (!done.ok) return done.error;
  if (!json && paused) terminal.print(`It is paused. Start it with: signalbox resume ${done.value}`);
  return exitCodes.done;
}

/** `isMade`: the run was already rolled back to this call. */
function changes({ calls, lost, effects, run, ...files }: Rollback, isMade: boolean): readonly string[] {
  if (isMade) return [`  already rolled back: continues as ${run}`];
  return [
    ...calls.map(({ call, tool }) => `  undo ${shown(tool)}  ${shown(call)}`),
    ...changedPaths(files),
    ...(files.paths.length === 0 ? ['  no file changes'] : []),
    ...lost.map(path => `  cannot be restored: ${shownPath(path)}`),
    ...effects.map(effect => `  remains: ${shown(effect)}`),
  ];
}
