import { type ErrorEnvelope, findRun, type Reader, type RunRecord } from '@signalbox/app/runs';
import type { CommandContext, DefineCommand } from './command.ts';
import { DATA_DIR_OPTION, type DataFlags } from './data-directory-option.ts';
import { exitCodes } from './exit-code.ts';
import { shown, type Terminal } from './terminal.ts';
import { withReader } from './with-reader.ts';

/** Prints something of a run. */
export type Look = (reader: Reader, run: RunRecord, json: boolean, terminal: Terminal) => Promise<void>;

/** A command that takes a run and only looks at it. */
export function looking(look: Look): DefineCommand {
  return (command, { terminal, end }: CommandContext) => {
    command
      .option(...DATA_DIR_OPTION)
      .option('--json', 'print it as JSON')
      .addHelpText('after', `\nExample:\n  $ signalbox ${command.name()} 019b8d62     the beginning of an id is enough`)
      .action(async (given: string, flags: DataFlags) => {
        end(
          await withReader(terminal, flags, async (reader): Promise<0 | ErrorEnvelope> => {
            const run = await findRun(reader, given);
            if (!run.ok) return run.error;
            await look(reader, run.value, flags.json ?? false, terminal);
            return exitCodes.done;
          }),
        );
      });
  };
}

export function describeRun({ id, status, name, createdAt, frames, tags, stopReason }: RunRecord): string {
  const words = tags.length === 0 ? '' : `  ${tags.map(shown).join(' ')}`;
  // Of a run that is paused, it is the disk that says so: what a person paused has no reason.
  const why = status === 'paused' && stopReason !== undefined ? `  ${shown(stopReason)}` : '';
  return `${id}  ${status.padEnd(9)}  ${shown(name)}  ${createdAt}  ${frames} frames${words}${why}`;
}
