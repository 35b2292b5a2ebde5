import { type ErrorEnvelope, usageError } from '@signalbox/app';
import { findSession, type GapAnswer, openGuidedDesk, type WaitingGap } from '@signalbox/app/guided';
import { thisMachine } from '@signalbox/app/host';
import type { DefineCommand } from '../command.ts';
import {
  askedDataDirectory,
  DATA_DIR_OPTION,
  type DataFlags,
  writableDataDirectory,
} from '../data-directory-option.ts';
import { exitCodeOf, exitCodes } from '../exit-code.ts';
import { paintOf, reportError, shown } from '../terminal.ts';
import { answerText, describeGap, shownGap } from './waiting-report.ts';

interface AnswerFlags extends DataFlags {
  readonly approve?: boolean;
  readonly deny?: boolean;
  readonly value?: string;
  readonly reason?: string;
  readonly shown?: string;
}

export const defineAnswer: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Answers a question of a guided session: a confirmation, an approval, or something that only you can choose or provide. The ' +
        'answer is recorded once; the agent receives it when it retries the step.',
    )
    .option('--approve', 'yes')
    .option('--deny', 'no')
    .option('--value <text>', 'the answer, if the question needs more than yes or no')
    .option('--reason <text>', 'why, for the agent; with --approve or --deny')
    .option('--shown <hash>', 'the hash of what you were shown: the answer is void if it has changed')
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the answered gap as JSON')
    .addHelpText(
      'after',
      `
Without an answer it shows the question.

Examples:
  $ signalbox decisions
  $ signalbox answer 019b8d62 7c1e     show the question; id prefixes are enough
  $ signalbox answer 019b8d62 7c1e --approve --reason "go on"
  $ signalbox answer 019b8d62 7c1e --value "the second option"

Exit codes: 0 done, 1 failed, 2 usage, 3 not answered yet.`,
    )
    .action(async (session: string, gap: string, flags: AnswerFlags) => {
      const refuse = (error: ErrorEnvelope) => {
        reportError(terminal, error, flags.json ?? false);
        end(exitCodeOf(error));
      };
      const dataDirectory = askedDataDirectory(flags.dataDir);
      const sessionId = findSession({ dataDirectory }, session);
      if (!sessionId.ok) return refuse(sessionId.error);
      const desk = openGuidedDesk({ dataDirectory, rng: thisMachine().rng });
      const found = desk.find(sessionId.value, gap);
      if (!found.ok) return refuse(found.error);
      const given = answerOf(flags, found.value);
      if (given === 'none') {
        const { gap: asked } = found.value;
        if (flags.json) terminal.print(JSON.stringify(found.value));
        else terminal.print(describeGap(shownGap(found.value), paintOf(terminal)));
        return end(asked.resolvedBy === undefined ? exitCodes.waiting : exitCodes.done);
      }
      if ('code' in given) return refuse(given);
      writableDataDirectory(flags.dataDir);
      const answered = await desk.answer(sessionId.value, found.value.gap.gapId, given);
      if (!answered.ok) return refuse(answered.error);
      const said = shown(answerText(answered.value));
      terminal.print(flags.json ? JSON.stringify(answered.value) : `${paintOf(terminal).good('✓')} ${said}`);
      end(exitCodes.done);
    });
};

/** An answer with the hash of what is shown now, unless the person gives the hash they saw. */
function answerOf(flags: AnswerFlags, { shown: now }: WaitingGap): GapAnswer | ErrorEnvelope | 'none' {
  const { approve = false, deny = false, value, reason, shown: seen = now } = flags;
  const given = [approve, deny, value !== undefined].filter(Boolean).length;
  if (given === 0) return 'none';
  if (given > 1) return usageError('--approve, --deny and --value exclude each other.', 'Give one of them.');
  if (value !== undefined && reason !== undefined) {
    return usageError('--reason goes with --approve or --deny.', 'Put it in the value.');
  }
  // The schema of answers rejects a value that is not a hash, and names the field.
  const hash = seen as typeof now;
  if (value !== undefined) return { kind: 'answered', value, shown: hash };
  return { kind: approve ? 'approved' : 'denied', ...(reason !== undefined && { note: reason }), shown: hash };
}
