import { usageError } from '@signalbox/app';
import { findPlanRun, LAST } from '@signalbox/app/all-runs';
import { type ErrorEnvelope, runDiff, type SnapshotDiff } from '@signalbox/app/host';
import type { DefineCommand } from '../command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from '../data-directory-option.ts';
import { exitCodes } from '../exit-code.ts';
import { shownLines } from '../shown-lines.ts';
import { type Paint, paintOf, shown } from '../terminal.ts';
import { withReader } from '../with-reader.ts';

interface DiffFlags extends DataFlags {
  readonly frame?: string;
}

export const defineDiff: DefineCommand = (command, { terminal, end }) => {
  command
    .description('Shows what a run changed in its workspace, from its first frame to its last or to the given one.')
    .option('--frame <n>', 'up to this frame')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the files and the patch as JSON')
    .addHelpText('after', '\nExample:\n  $ signalbox diff 019b8d62 --frame 12')
    .action(async (given: string | undefined, flags: DiffFlags) => {
      end(
        await withReader(terminal, flags, async (reader): Promise<0 | ErrorEnvelope> => {
          const run = await findPlanRun(reader, askedDataDirectory(flags.dataDir), given ?? LAST);
          if (!run.ok) return run.error;
          const { frame } = flags;
          if (frame !== undefined && !/^\d{1,9}$/.test(frame))
            return usageError('--frame must be a number.', 'See "signalbox frames".');
          const diff = await runDiff(
            { reader, blobs: reader },
            run.value,
            frame === undefined ? undefined : Number(frame),
          );
          if (!diff.ok) return diff.error;
          terminal.print(flags.json === true ? JSON.stringify(diff.value) : describe(diff.value, paintOf(terminal)));
          return exitCodes.done;
        }),
      );
    });
};

function describe({ files, patch }: SnapshotDiff, paint: Paint): string {
  if (files.length === 0) return 'Nothing changed.';
  if (patch === '') return files.map(({ path, change }) => `${change.padEnd(7)}  ${shown(path)}`).join('\n');
  return shownLines(patch.replace(/\n$/, ''))
    .map(line => painted(line, paint))
    .join('\n');
}

function painted(line: string, paint: Paint): string {
  if (/^(?:diff --git|index |---|\+\+\+|new file|deleted file|old mode|new mode|Binary files)/.test(line))
    return paint.strong(line);
  if (line.startsWith('@@')) return paint.faint(line);
  if (line.startsWith('+')) return paint.good(line);
  return line.startsWith('-') ? paint.bad(line) : line;
}
