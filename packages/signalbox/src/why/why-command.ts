import { findPlanRun, LAST } from '@signalbox/app/all-runs';
import { type ErrorEnvelope, thisMachine, type WhyAnswer, why } from '@signalbox/app/host';
import type { DefineCommand } from '../command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from '../data-directory-option.ts';
import { exitCodes } from '../exit-code.ts';
import { shown } from '../terminal.ts';
import { describeThrown, type PlaceStyle, placeStyle } from '../thrown-report.ts';
import { withReader } from '../with-reader.ts';

export const defineWhy: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Explains the state of a run or node: what it waits for and how to answer, what failed first, why a branch was taken, why work ' +
        'ran again. Everything comes from the log; if the log does not say, the answer says so.',
    )
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the answers as JSON, with the events they are based on')
    .addHelpText('after', '\nExamples:\n  $ signalbox why 019b8d62\n  $ signalbox why 019b8d62 deploy')
    .action(async (given: string | undefined, node: string | undefined, flags: DataFlags) => {
      end(
        await withReader(terminal, flags, async (reader): Promise<0 | ErrorEnvelope> => {
          const run = await findPlanRun(reader, askedDataDirectory(flags.dataDir), given ?? LAST);
          if (!run.ok) return run.error;
          const { id } = run.value;
          const answers = await why(reader, id, node, thisMachine().clock);
          if (!answers.ok) return answers.error;
          const style = placeStyle(terminal, flags.dataDir);
          if (flags.json)
            terminal.print(JSON.stringify({ run: id, ...(node !== undefined && { node }), answers: answers.value }));
          else terminal.print(answers.value.flatMap(answer => describe(answer, style)).join('\n'));
          return exitCodes.done;
        }),
      );
    });
};

function describe({ topic, text, command, thrown }: WhyAnswer, style: PlaceStyle): readonly string[] {
  const { paint } = style;
  const line = topic === 'unknown' ? paint.doubtful(shown(text)) : shown(text);
  const place = describeThrown(thrown, style).map(told => `  ${told}`);
  return [line, ...place, ...(command === undefined ? [] : [`  ${paint.faint(shown(command))}`])];
}
