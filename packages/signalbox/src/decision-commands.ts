import { usageError } from '@signalbox/app';
import {
  type DecisionOfRun,
  type ErrorEnvelope,
  findDecision,
  findRun,
  heldDiff,
  type Reader,
  type Resolution,
} from '@signalbox/app/runs';
import type { CommandContext, DefineCommand } from './command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from './data-directory-option.ts';
import { describeDecision } from './decision-report.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-code.ts';
import { type FoundGap, findGap } from './guided/answer-gap.ts';
import { listWaiting } from './guided/waiting-report.ts';
import { parseJson } from './json-argument.ts';
import { nodeTitle } from './node-title.ts';
import { withSurface } from './surface/with-surface.ts';
import { paintOf, reportError, shown, type Terminal } from './terminal.ts';
import { withReader } from './with-reader.ts';

export const defineDecisions: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Lists what waits for a person, oldest first: what is asked, by which node of which run, and how to answer. What guided ' +
        'sessions wait for comes after that.',
    )
    .option('--run <run>', 'only those of one run')
    .option('--all', 'also those that were answered or withdrawn')
    .option('--diff', "of one decision about a command's changes: its version of the files against what is there now")
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print one decision a line as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  $ signalbox decisions --run 019b8d62\n  $ signalbox decisions 019b8d63 --diff',
    )
    .action(async (given: string | undefined, flags: DecisionsFlags) => {
      if (given !== undefined || flags.diff === true) return end(await showDecision(terminal, given, flags));
      const nothing = async (): Promise<ExitCode> => {
        const listed = flags.run === undefined ? await listWaiting(terminal, flags) : 0;
        if (typeof listed !== 'number') {
          reportError(terminal, listed, flags.json ?? false);
          return exitCodeOf(listed);
        }
        if (listed === 0 && flags.json !== true) terminal.print('Nothing waits for you.');
        return exitCodes.done;
      };
      const list = async (reader: Reader): Promise<ExitCode | ErrorEnvelope> => {
        const run = flags.run === undefined ? undefined : await findRun(reader, flags.run);
        if (run !== undefined && !run.ok) return run.error;
        const found = await reader.decisions({
          ...(run && { run: run.value.id }),
          ...(flags.all === true ? {} : { status: ['open'] }),
        });
        for (const one of found) {
          const title = flags.json ? undefined : await nodeTitle(reader, one.run, one.decision.node);
          terminal.print(flags.json ? JSON.stringify(one) : describeDecision({ ...one, title }, paintOf(terminal)));
        }
        if (found.length === 0) return nothing();
        const listed = flags.run === undefined ? await listWaiting(terminal, flags) : 0;
        return typeof listed === 'number' ? exitCodes.done : listed;
      };
      end(await withReader(terminal, flags, list, flags.run === undefined ? nothing : undefined));
    });
};

interface DecisionsFlags extends DataFlags {
  readonly run?: string;
  readonly all?: boolean;
  readonly diff?: boolean;
}

/** One decision, or the files that it is about. */
async function showDecision(terminal: Terminal, given: string | undefined, flags: DecisionsFlags): Promise<ExitCode> {
  return withReader(terminal, flags, async (reader): Promise<ExitCode | ErrorEnvelope> => {
    if (given === undefined) return usageError('--diff needs a decision.', 'List them with: signalbox decisions');
    const found = await findDecision(reader, given);
    if (!found.ok) return found.error;
    const { run, decision } = found.value;
    if (flags.diff === true) {
      const shownDiff = await heldDiff(askedDataDirectory(flags.dataDir), decision);
      if (!shownDiff.ok) return shownDiff.error;
      terminal.print(shownDiff.value.split('\n').map(shown).join('\n'));
      return exitCodes.done;
    }
    const title = flags.json ? undefined : await nodeTitle(reader, run, decision.node);
    terminal.print(
      flags.json ? JSON.stringify(found.value) : describeDecision({ ...found.value, title }, paintOf(terminal)),
    );
    return exitCodes.done;
  });
}

interface AnswerFlags extends DataFlags {
  readonly reason?: string;
  readonly option?: string;
  readonly value?: string;
  readonly args?: string;
}

export const defineApprove: DefineCommand = (command, context) => {
  command
    .description(
      'Answers a decision with yes: a call runs, a question has its answer. A decision is answered once; the run goes on ' +
        'where something drives it, and otherwise with "signalbox resume". What a guided session waits for is answered by its id, too; ' +
        'its agent is told when it takes the step up again.',
    )
    .option('--option <id>', 'the option that is chosen, where there are some')
    .option(
      '--value <json>',
      'the value that was asked for, or that goes with an option, as JSON; words, where a guided session asks',
    )
    .option('--args <json>', 'other arguments for the call, as JSON')
    .option('--reason <text>', 'why');
  answering(command, context, 'signalbox approve 019b8d62 --option publish', (flags, isGuided) => {
    const value = flags.value === undefined ? undefined : givenValue(flags.value, isGuided);
    const args = flags.args === undefined ? undefined : parseJson(flags.args);
    if (value?.ok === false || args?.ok === false) return undefined;
    const rationale = flags.reason ?? '';
    const given = value === undefined ? {} : { value: value.value };
    if (flags.option !== undefined)
      return { ...BASE, resolutionType: 'choose_option', chosenOptionId: flags.option, rationale, ...given };
    if (args !== undefined) return { ...BASE, resolutionType: 'modify', modifiedArgs: args.value as never, rationale };
    return { ...BASE, resolutionType: 'approve', rationale, ...given };
  });
};

export const defineDeny: DefineCommand = (command, context) => {
  command
    .description('Answers a decision with no. Who asked is told, with the reason.')
    .option('--reason <text>', 'why, for whoever asked');
  answering(command, context, 'signalbox deny 019b8d62 --reason "not on a Friday"', ({ reason }) => ({
    ...BASE,
    resolutionType: 'reject',
    rationale: reason ?? '',
  }));
};

const BASE = { actionKind: 'review' } as const;

/** A guided session asks for words: what is no JSON are such. */
function givenValue(given: string, isGuided: boolean): ReturnType<typeof parseJson> {
  const parsed = parseJson(given);
  return isGuided && !parsed.ok ? { ok: true, value: given } : parsed;
}

/** `resolutionOf` answers undefined where an option is not JSON. */
function answering(
  command: Parameters<DefineCommand>[0],
  { terminal, end }: CommandContext,
  example: string,
  resolutionOf: (flags: AnswerFlags, isGuided: boolean) => Resolution | undefined,
): void {
  command
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the answered decision as JSON')
    .addHelpText('after', `\nExample:\n  $ ${example}     the beginning of an id is enough`)
    .action(async (given: string, flags: AnswerFlags) => {
      const gap = await findGap(flags.dataDir, given);
      if (gap !== undefined) return end(await answerGap(terminal, gap, resolutionOf(flags, true), flags.json ?? false));
      const resolution = resolutionOf(flags, false);
      end(
        await withSurface(terminal, flags, async (surface): Promise<0 | ErrorEnvelope> => {
          if (resolution === undefined) return notJson();
          const found = await findDecision(surface.reader, given);
          if (!found.ok) return found.error;
          const { id, proposalHash } = found.value.decision;
          const answered = await surface.answer(id, { resolution, proposalHash });
          if (!answered.ok) return answered.error;
          const after = (await surface.reader.decision(id)) ?? found.value;
          const run = await surface.reader.run(after.run);
          const title = await nodeTitle(surface.reader, after.run, after.decision.node);
          report(
            terminal,
            { ...after, title },
            flags.json ?? false,
            surface.isOwner && run?.status === 'waiting' ? `signalbox resume ${after.run}` : undefined,
          );
          return exitCodes.done;
        }),
      );
    });
}

function notJson(): ErrorEnvelope {
  return usageError('--value and --args take JSON.', 'Quote it for your shell.');
}

async function answerGap(
  terminal: Terminal,
  gap: FoundGap | ErrorEnvelope,
  resolution: Resolution | undefined,
  json: boolean,
): Promise<ExitCode> {
  const refuse = (error: ErrorEnvelope) => {
    reportError(terminal, error, json);
    return exitCodeOf(error);
  };
  if ('code' in gap) return refuse(gap);
  if (resolution === undefined) return refuse(notJson());
  const answered = await gap.answer(resolution);
  if ('code' in answered) return refuse(answered);
  const { approvalId: id, runId: run, decision } = answered;
  terminal.print(
    json ? JSON.stringify(answered) : describeDecision({ run, decision: { id, ...decision } }, paintOf(terminal)),
  );
  return exitCodes.done;
}

function report(
  terminal: Terminal,
  { title, ...answered }: DecisionOfRun & { readonly title: string },
  json: boolean,
  goOn: string | undefined,
): void {
  terminal.print(json ? JSON.stringify(answered) : describeDecision({ ...answered, title }, paintOf(terminal)));
  if (!json && goOn !== undefined) terminal.print(`Go on with: ${goOn}`);
}
