import { findPlanRun, LAST } from '@signalbox/app/all-runs';
import { type ErrorEnvelope, isInterrupted, type Reader, type RunRecord } from '@signalbox/app/host';
import type { CommandContext, DefineCommand } from './command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from './data-directory-option.ts';
import { exitCodes } from './exit-code.ts';
import { shown, type Terminal } from './terminal.ts';
import { withReader } from './with-reader.ts';

/** Prints something about a run. */
export type Look = (reader: Reader, run: RunRecord, json: boolean, terminal: Terminal) => Promise<void>;

/** A read-only command on a run. */
export function looking(look: Look): DefineCommand {
  return (command, { terminal, end }: CommandContext) => {
    command
      .option(...DATA_DIR_OPTION)
      .option('--json', 'print JSON')
      .addHelpText('after', `\nExample:\n  $ signalbox ${command.name()} 019b8d62     an id prefix is enough`)
      .action(async (given: string | undefined, flags: DataFlags) => {
        end(
          await withReader(terminal, flags, async (reader): Promise<0 | ErrorEnvelope> => {
            const run = await findPlanRun(reader, askedDataDirectory(flags.dataDir), given ?? LAST);
            if (!run.ok) return run.error;
            await look(reader, run.value, flags.json ?? false, terminal);
            return exitCodes.done;
          }),
        );
      });
  };
}

/** `until` is the time that it waits for. */
export function describeRun(run: RunRecord, until?: string | undefined, openDecisions = 0): string {
  const { id, status, name, createdAt, frames, tags, stopReason } = run;
  const words = tags.length === 0 ? '' : `  ${tags.map(shown).join(' ')}`;
  // Only the disk pauses a run with a reason; a person pauses without one.
  const why = status === 'paused' && stopReason !== undefined ? `  ${shown(stopReason)}` : '';
  const waits = until === undefined ? '' : `  waits until ${until}`;
  if (isInterrupted(run))
    return `${id}  interrupted  ${shown(name)}  ${createdAt}  ${frames} frames${words}  its process ended; "signalbox resume ${id}" continues it`;
  const asks = status === 'running' && openDecisions > 0 ? '  asks you' : '';
  return `${id}  ${status.padEnd(9)}  ${shown(name)}  ${createdAt}  ${frames} frames${words}${why}${waits}${asks}`;
}
