import path from 'node:path';
import { usageError } from '@signalbox/app';
import { decisionView, findListedRun } from '@signalbox/app/all-runs';
import {
  type DecisionOfRun,
  type ErrorEnvelope,
  findDecision,
  heldDiff,
  nodeKey,
  openReader,
  type Reader,
  type Resolution,
} from '@signalbox/app/host';
import type { CommandContext, DefineCommand } from './command.ts';
import { askedDataDirectory, DATA_DIR_OPTION, type DataFlags } from './data-directory-option.ts';
import { describeDecision } from './decision-report.ts';
import { type ExitCode, exitCodeOf, exitCodes } from './exit-code.ts';
import { agentDecisions, answerAgent, findAgentDecision } from './fleet/agent-decisions.ts';
import { describeQueued } from './fleet/fleet-report.ts';
import { type FoundGap, findGap } from './guided/answer-gap.ts';
import { aboutLines, describeGap } from './guided/waiting-report.ts';
import { homeRuns } from './home-runs.ts';
import { parseJson } from './json-argument.ts';
import { nodeTitle } from './node-title.ts';
import { withOwner } from './owner/with-owner.ts';
import { type Paint, paintOf, reportError, shown, type Terminal } from './terminal.ts';
import { withReader } from './with-reader.ts';

export const defineDecisions: DefineCommand = (command, { terminal, end }) => {
  command
    .description(
      'Lists the decisions of plan runs and guided sessions that wait for a person, oldest first: the question, the node and run ' +
        'that asked, and how to answer. While a server runs, also those of agents, most urgent first.',
    )
    .option('--run <run>', 'only decisions of this run')
    .option('--all', 'also answered and withdrawn decisions')
    .option('--diff', "for a decision about a command's changes: compare its version of the files with the current one")
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print one JSON object per line')
    .addHelpText(
      'after',
      '\nExamples:\n  $ signalbox decisions --run 019b8d62\n  $ signalbox decisions 019b8d63 --diff',
    )
    .action(async (given: string | undefined, flags: DecisionsFlags) => {
      if (given !== undefined || flags.diff === true) return end(await showDecision(terminal, given, flags));
      const directory = askedDataDirectory(flags.dataDir);
      const list = async (reader?: Reader): Promise<ExitCode | ErrorEnvelope> => {
        const run = flags.run === undefined ? undefined : await findListedRun(reader, directory, flags.run);
        if (run !== undefined && !run.ok) return run.error;
        const runs = homeRuns(directory, reader);
        const asked = { status: flags.all === true ? 'all' : 'open', ...(run && { run: run.value.id }) } as const;
        let count = 0;
        for (let after: string | undefined, isMore = true; isMore; isMore = after !== undefined) {
          const page = await runs.decisions({ ...asked, ...(after !== undefined && { after }) });
          if (!page.ok) return page.error;
          for (const one of page.value.items) {
            const { runId, decision } = one;
            const title =
              reader === undefined || flags.json
                ? undefined
                : await nodeTitle(reader, runId, nodeKey.parse(decision.node));
            terminal.print(flags.json ? decisionJson(one) : describeAny(one, title, paintOf(terminal)));
          }
          count += page.value.items.length;
          after = page.value.next;
        }
        const ofAgents = run === undefined ? await agentDecisions(flags.dataDir) : [];
        for (const one of ofAgents) terminal.print(flags.json ? JSON.stringify(one) : describeQueued(one));
        if (count + ofAgents.length === 0 && flags.json !== true) terminal.print('Nothing waits for you.');
        return exitCodes.done;
      };
      end(await withReader(terminal, flags, list, () => list()));
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
      flags.json
        ? decisionJson(decisionView(run, decision))
        : describeDecision({ ...found.value, title }, paintOf(terminal)),
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
      'Approves a decision: the call runs, or the question is answered. A decision is answered once; without one, a terminal asks ' +
        'which. If nothing drives the run, ' +
        'continue it with "signalbox resume". Questions of guided sessions are answered by their id too; the agent receives the ' +
        'answer when it retries the step.',
    )
    .option('--option <id>', 'the option to choose, if the decision has options')
    .option(
      '--value <json>',
      'the requested value, or the value for an option, as JSON; plain text for a guided session',
    )
    .option('--args <json>', 'replace the arguments of the call, as JSON')
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
    .description('Denies a decision. The node that asked receives the reason.')
    .option('--reason <text>', 'why, for the node that asked');
  answering(command, context, 'signalbox deny 019b8d62 --reason "not on a Friday"', ({ reason }) => ({
    ...BASE,
    resolutionType: 'reject',
    rationale: reason ?? '',
  }));
};

const BASE = { actionKind: 'review' } as const;

/** A guided session asks for text, so a value that is not JSON is taken as text. */
function givenValue(given: string, isGuided: boolean): ReturnType<typeof parseJson> {
  const parsed = parseJson(given);
  return isGuided && !parsed.ok ? { ok: true, value: given } : parsed;
}

/** `resolutionOf` returns undefined if an option is not JSON. */
function answering(
  command: Parameters<DefineCommand>[0],
  { terminal, signals, end }: CommandContext,
  example: string,
  resolutionOf: (flags: AnswerFlags, isGuided: boolean) => Resolution | undefined,
): void {
  command
    .option(...DATA_DIR_OPTION)
    .option('--json', 'print the answered decision as JSON')
    .addHelpText('after', `\nExample:\n  $ ${example}     the beginning of an id is enough`)
    .action(async (named: string | undefined, flags: AnswerFlags) => {
      const given = named ?? (await chosenDecision(terminal, flags, signals.ending()));
      if (typeof given !== 'string') {
        reportError(terminal, given, flags.json ?? false);
        return end(exitCodeOf(given));
      }
      const gap = await findGap(flags.dataDir, given);
      if (gap !== undefined) return end(await answerGap(terminal, gap, resolutionOf(flags, true), flags.json ?? false));
      const resolution = resolutionOf(flags, false);
      const asked = resolution === undefined ? undefined : await findAgentDecision(flags.dataDir, given);
      if (asked !== undefined && resolution !== undefined)
        return end(await answerAgent(terminal, asked, resolution, flags));
      end(
        await withOwner(terminal, flags, async (owner): Promise<0 | ErrorEnvelope> => {
          if (resolution === undefined) return notJson();
          const found = await findDecision(owner.reader, given);
          if (!found.ok) return found.error;
          const { id, proposalHash } = found.value.decision;
          const answered = await owner.answer(id, { resolution, proposalHash });
          if (!answered.ok) return answered.error;
          const after = (await owner.reader.decision(id)) ?? found.value;
          const run = await owner.reader.run(after.run);
          const title = await nodeTitle(owner.reader, after.run, after.decision.node);
          report(
            terminal,
            { ...after, title },
            flags.json ?? false,
            owner.isLocal && run?.status === 'waiting' ? `signalbox resume ${after.run}` : undefined,
          );
          return exitCodes.done;
        }),
      );
    });
}

/** Offers what waits to the person at the terminal; a program has to name it. */
async function chosenDecision(
  terminal: Terminal,
  { dataDir, json = false }: AnswerFlags,
  ending: AbortSignal,
): Promise<string | ErrorEnvelope> {
  const missing = usageError('Which decision?', 'List them with: signalbox decisions');
  if (terminal.ask === undefined || json) return missing;
  const directory = askedDataDirectory(dataDir);
  const opened = openReader({ path: path.join(directory, 'db.sqlite') });
  const found = await homeRuns(directory, opened.ok ? opened.value : undefined).decisions({ status: 'open' });
  if (opened.ok) opened.value.close();
  if (!found.ok) return found.error;
  const open = found.value.items;
  const [first] = open;
  if (first === undefined) return usageError('Nothing waits for you.', 'See what runs do with: signalbox ls');
  const paint = paintOf(terminal);
  for (const [index, one] of open.entries())
    terminal.print(`${paint.strong(`[${index + 1}]`)} ${describeAny(one, undefined, paint)}`);
  for (;;) {
    const said = await terminal.ask(
      open.length === 1 ? 'Answer this one? [y]es, [n]o: ' : `Which one? 1 to ${open.length}: `,
      ending,
    );
    if (said === undefined || /^n/i.test(said.trim())) return missing;
    const chosen = open.length === 1 && /^y/i.test(said.trim()) ? first : open[Number(said) - 1];
    if (chosen !== undefined) return chosen.approvalId;
  }
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
    json ? decisionJson(answered) : describeDecision({ run, decision: { id, ...decision } }, paintOf(terminal)),
  );
  return exitCodes.done;
}

function report(
  terminal: Terminal,
  { title, ...answered }: DecisionOfRun & { readonly title: string },
  json: boolean,
  goOn: string | undefined,
): void {
  const { run, decision } = answered;
  terminal.print(
    json ? decisionJson(decisionView(run, decision)) : describeDecision({ run, decision, title }, paintOf(terminal)),
  );
  if (!json && goOn !== undefined) terminal.print(`Continue with: ${goOn}`);
}

type AnyDecision = ReturnType<typeof decisionView>;

/** One shape for every decision, whichever driver asks; `sessionId` is of a guided one. */
function decisionJson({ approvalId: id, runId: run, kind, sessionId, decision }: AnyDecision): string {
  return JSON.stringify({ run, kind, ...(sessionId && { sessionId }), decision: { id, ...decision } });
}

function describeAny(one: AnyDecision, title: string | undefined, paint: Paint): string {
  const { approvalId: id, runId: run, kind, sessionId, context, tool, decision } = one;
  if (kind === 'plan') return describeDecision({ run, title, decision: { id, ...decision } }, paint);
  const { resolution, status, proposalHash: hash } = decision;
  const said = resolution?.value === undefined ? undefined : wordsOf(resolution.value);
  const word = resolution?.resolutionType === 'reject' ? 'denied' : 'approved';
  const why = resolution?.rationale ? `: ${resolution.rationale}` : '';
  const settled = resolution === undefined ? 'a later attempt supplied it' : (said ?? `${word}${why}`);
  const answer = status === 'open' ? undefined : settled;
  const about = aboutLines(decision.proposal);
  return describeGap({ id, sessionId, detail: tool.name, summary: context ?? '', about, hash, answer }, paint);
}

/** Words that were asked for are a text under `value`. */
function wordsOf(value: unknown): string {
  const { value: words } = value as { readonly value?: unknown };
  return typeof words === 'string' ? words : JSON.stringify(value);
}
