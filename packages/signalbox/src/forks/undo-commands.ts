import { type CallCheckpoint, type CallUndo, type ErrorEnvelope, findRun, unconfirmedUndo } from '@signalbox/app/runs';
import type { DefineCommand } from '../command.ts';
import { DATA_DIR_OPTION, type DataFlags } from '../data-directory-option.ts';
import { type ExitCode, exitCodes } from '../exit-code.ts';
import { withSurface } from '../surface/with-surface.ts';
import { shown, type Terminal } from '../terminal.ts';
import { changedPaths } from './changed-paths.ts';
import { confirm } from './confirm.ts';

export const defineCheckpoints: DefineCommand = (command, { terminal, end }) => {
  command
    .description('Lists the tool calls of the agents of a run, with what became of them and what can be undone.')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print each as a line of JSON')
    .addHelpText('after', '\nExample:\n  $ signalbox checkpoints 019b8d62')
    .action(async (given: string, flags: DataFlags) => {
      end(
        await withSurface(terminal, flags, async (surface): Promise<ExitCode | ErrorEnvelope> => {
          const run = await findRun(surface.reader, given);
          if (!run.ok) return run.error;
          const found = await surface.checkpoints(run.value.id);
          if (!found.ok) return found.error;
          for (const one of found.value) terminal.print(flags.json ? JSON.stringify(one) : describe(one));
          if (found.value.length === 0 && !flags.json) terminal.print('No tool call is recorded.');
          return exitCodes.done;
        }),
      );
    });
};

interface UndoFlags extends DataFlags {
  readonly kept?: boolean;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

export const defineUndo: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Undoes what one tool call did to files, and nothing else. It says first what that changes. Where somebody changed the ' +
        'same files since, nothing is overwritten.',
    )
    .option('--kept', 'instead, bring back what the rollback of a failed call overwrote or removed')
    .option('--dry-run', 'only say what would change')
    .option('--yes', 'do not ask')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print what changed as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  $ signalbox undo 019b8d62 5d2b…/1/2/0 --dry-run\n  $ signalbox undo 019b8d62 5d2b…/1/2/0 --kept',
    )
    .action(async (given: string, call: string, flags: UndoFlags) => {
      end(
        await withSurface(terminal, flags, async (surface): Promise<ExitCode | ErrorEnvelope> => {
          const run = await findRun(surface.reader, given);
          if (!run.ok) return run.error;
          const { kept = false, dryRun = false, yes = false, json = false } = flags;
          const planned = await surface.undo(run.value.id, call, { dryRun: true, kept });
          if (!planned.ok) return planned.error;
          if (dryRun) return report(terminal, planned.value, json, true);
          if (!yes) {
            for (const line of changes(planned.value)) terminal.complain(line);
            const question = kept ? 'Bring these back?' : 'Undo it?';
            if (!(await confirm(question))) return unconfirmedUndo(run.value.id, call, planned.value);
          }
          const undone = await surface.undo(run.value.id, call, { kept });
          return undone.ok ? report(terminal, undone.value, json, false) : undone.error;
        }),
      );
    });
};

function report(terminal: Terminal, undo: CallUndo, json: boolean, isPlanned: boolean): ExitCode {
  if (json) terminal.print(JSON.stringify(undo));
  else if (undo.paths.length === 0 && !undo.conflicts?.length)
    terminal.print('Nothing to bring back: everything is in place already.');
  else terminal.print([isPlanned ? 'Would change:' : 'Changed:', ...changes(undo)].join('\n'));
  return exitCodes.done;
}

function changes({ conflicts = [], ...undo }: CallUndo): readonly string[] {
  return [
    ...changedPaths(undo),
    ...conflicts.map(path => `  left as it is, because it changed since: ${shown(path)}`),
    ...undo.lost.map(path => `  cannot be brought back: ${shown(path)}`),
  ];
}

function describe(checkpoint: CallCheckpoint): string {
  const { call, tool, node, outcome, at, changesFiles, beyond, undone, kept = [] } = checkpoint;
  const more = beyond ? ', and was not confined' : '';
  const saved = kept.length === 0 ? '' : `${kept.length} ${kept.length === 1 ? 'path' : 'paths'} kept (undo --kept)`;
  const what = undone ? `undone${more}` : changesFiles ? `changed files${more}` : saved;
  return `${call}  ${at}  ${outcome.padEnd(9)}  ${shown(node ?? '')}  ${shown(tool)}  ${what}`.trimEnd();
}
