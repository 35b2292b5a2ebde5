import { usageError } from '@signalbox/app';
import { findPlanRun, LAST } from '@signalbox/app/all-runs';
import {
  type CallCheckpoint,
  type CallUndo,
  callCheckpoints,
  checkpointFolder,
  type ErrorEnvelope,
  unconfirmedUndo,
} from '@signalbox/app/host';
import type { DefineCommand } from '../command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from '../data-directory-option.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import { withOwner } from '../owner/with-owner.ts';
import { shown, type Terminal } from '../terminal.ts';
import { withReader } from '../with-reader.ts';
import { changedPaths, shownPath } from './changed-paths.ts';
import { confirm } from './confirm.ts';

export const defineCheckpoints: DefineCommand = (command, { terminal, end }) => {
  command
    .description("Lists the tool calls of a run's agents, with their outcomes and what can be undone.")
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print one JSON object per line')
    .addHelpText('after', '\nExample:\n  $ signalbox checkpoints 019b8d62')
    .action(async (given: string | undefined, flags: DataFlags) => {
      end(
        await withReader(terminal, flags, async (reader): Promise<ExitCode | ErrorEnvelope> => {
          const run = await findPlanRun(reader, askedDataDirectory(flags.dataDir), given ?? LAST);
          if (!run.ok) return run.error;
          const folder = checkpointFolder(askedDataDirectory(flags.dataDir), run.value.id);
          const found = await callCheckpoints(reader, folder, run.value);
          for (const one of found) terminal.print(flags.json ? JSON.stringify(one) : describe(one));
          if (found.length === 0 && !flags.json) terminal.print('No tool calls yet.');
          return exitCodes.done;
        }),
      );
    });
};

interface UndoFlags extends DataFlags {
  readonly kept?: boolean;
  readonly attempt?: string;
  readonly copies?: boolean;
  readonly diff?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export const defineUndo: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Undoes the file changes of one tool call, and nothing else. It first shows what changes. If somebody changed the same ' +
        'files since, nothing is overwritten.',
    )
    .option('--kept', 'instead, restore files that the rollback of a failed call overwrote or removed')
    .option('--attempt <n>', 'with --kept: only files kept by this attempt; see "signalbox checkpoints"')
    .option('--copies', 'with --kept: restore files that changed since as copies next to them, named *.kept')
    .option('--diff', 'also show what the call changed')
    .option('--dry-run', 'only show what would change')
    .option('--yes', 'skip the confirmation')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the changes as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  $ signalbox undo 019b8d62 5d2b…/1/2/0 --dry-run\n  $ signalbox undo 019b8d62 5d2b…/1/2/0 --kept',
    )
    .action(async (given: string, call: string, flags: UndoFlags) => {
      end(
        await withOwner(terminal, flags, async (owner): Promise<ExitCode | ErrorEnvelope> => {
          const run = await findPlanRun(owner.reader, askedDataDirectory(flags.dataDir), given);
          if (!run.ok) return run.error;
          const { kept = false, copies = false, dryRun = false, yes = false, json = false } = flags;
          const attempt = flags.attempt === undefined ? undefined : Number(flags.attempt);
          const fault = misuse(flags, attempt);
          if (fault !== undefined) return fault;
          const asked = { kept, attempt, ...(copies && { copies }) };
          const shown = flags.diff === true && !kept ? { diff: true } : {};
          const planned = await owner.undo(run.value.id, call, { ...asked, ...shown, dryRun: true });
          if (!planned.ok) return planned.error;
          if (planned.value.diff !== undefined && !json) terminal.print(planned.value.diff.trimEnd());
          if (dryRun) return report(terminal, planned.value, json, true);
          if (!yes) {
            for (const line of changes(planned.value)) terminal.complain(line);
            const question = kept ? 'Restore these?' : 'Undo it?';
            if (!(await confirm(question))) return unconfirmedUndo(run.value.id, call, planned.value);
          }
          const undone = await owner.undo(run.value.id, call, asked);
          return undone.ok ? report(terminal, undone.value, json, false) : undone.error;
        }),
      );
    });
};

function misuse({ kept, copies }: UndoFlags, attempt: number | undefined): ErrorEnvelope | undefined {
  if (kept !== true && (copies === true || attempt !== undefined)) {
    return usageError('--attempt and --copies go with --kept.', 'See "signalbox undo --help".');
  }
  if (attempt === undefined || (Number.isInteger(attempt) && attempt > 0)) return undefined;
  return usageError('--attempt must be a number, 1 or more.', 'See "signalbox checkpoints RUN" for the attempts.');
}

function report(terminal: Terminal, undo: CallUndo, json: boolean, isPlanned: boolean): ExitCode {
  if (json) terminal.print(JSON.stringify(undo));
  else if (undo.paths.length === 0 && !undo.conflicts?.length && undo.lost.length === 0)
    terminal.print('Nothing to restore: everything is already in place.');
  else terminal.print([isPlanned ? 'Would change:' : 'Changed:', ...changes(undo)].join('\n'));
  return exitCodes.done;
}

function changes({ conflicts = [], copies, ...undo }: CallUndo): readonly string[] {
  const hint = conflicts.length > 0 && copies === undefined ? ['  restore those as copies with: --copies'] : [];
  return [
    ...changedPaths(undo),
    ...conflicts.map(path => `  not touched, because it changed since: ${shownPath(path)}`),
    ...(copies ?? []).map(path => `  copy: ${shownPath(path)}`),
    ...hint,
    ...undo.lost.map(path => `  cannot be restored: ${shownPath(path)}`),
  ];
}

function describe(checkpoint: CallCheckpoint): string {
  const { call, tool, node, outcome, at, changesFiles, beyond, undone, within, kept = [], attempts = [] } = checkpoint;
  const unconfined = beyond ? ', and was not confined' : '';
  const saved = kept.length === 0 ? '' : `${kept.length} ${kept.length === 1 ? 'path' : 'paths'} kept (undo --kept)`;
  const what = undone ? `undone${unconfined}` : changesFiles ? `changed files${unconfined}` : saved;
  const turn = within === undefined ? '' : `, in ${within}`;
  const line = `${call}  ${at}  ${outcome.padEnd(9)}  ${shown(node ?? '')}  ${shown(tool)}  ${what}${turn}`.trimEnd();
  const each = (attempts.length > 1 ? attempts : []).map(
    one =>
      `    --attempt ${one.attempt}  ${one.at}  ${one.paths.slice(0, SHOWN).map(shownPath).join(', ')}${more(one)}`,
  );
  return [line, ...each].join('\n');
}

const SHOWN = 10;

function more({ paths }: { readonly paths: readonly string[] }): string {
  return paths.length > SHOWN ? ` and ${paths.length - SHOWN} more` : '';
}
