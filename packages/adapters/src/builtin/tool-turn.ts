import { cutAtWord, type Json, type JsonObject, json, type Resolution } from '@signalbox/model';
import type { AgentOutcome, AgentSession, Assignment } from '@signalbox/runs';
import { type AnyTool, isAllowed, needsApproval, type ToolOutcome } from '@signalbox/state';
import type { AgentTools } from '../attempt/agent-tools.ts';
import { heldChoiceOf, heldQuestion, reviewQuestion } from '../attempt/held-changes.ts';
import { plainData } from '../attempt/plain-data.ts';
import { rollbackWords } from '../attempt/rollback-words.ts';
import { canceledFailure, failed, taskFailure } from '../attempt/task-failure.ts';
import { approvalKind, type Permission, permissionOf, proposalOf } from './approval.ts';
import type { AnswerForm } from './final-answer.ts';
import {
  type Approval,
  type EntryOf,
  type TranscriptEntry,
  type Turn,
  type TurnCall,
  textOfTurn,
} from './transcript.ts';

/** What the calls of a turn need from their attempt. */
export interface ToolTurnContext {
  readonly assignment: Assignment;
  readonly session: AgentSession;
  readonly tools: AgentTools;
  readonly form: AnswerForm;
  readonly now: () => number;
  keep(entry: TranscriptEntry): Promise<void>;
  stream(kind: 'tool_start' | 'tool_end', payload: Json): void;
}

type Ending = Pick<EntryOf<'tool_ended'>, 'status' | 'output'>;

/**
 * Runs every call of a turn to its end, in order. Returns undefined when all have ended; otherwise the attempt is over.
 *
 * 1. All questions of a turn are asked before any of its calls runs, and nothing runs while one is open.
 * 2. The start of a call with effects is recorded before it begins, and its outcome right after.
 */
export async function runCalls(turn: Turn, context: ToolTurnContext): Promise<AgentOutcome | undefined> {
  const { session, keep } = context;
  const open = turn.calls.filter(call => call.ended === undefined);
  const answers = new Map<string, Resolution>();
  const waiting: { readonly call: TurnCall; readonly tool: AnyTool }[] = [];
  for (const call of open) {
    const tool = questioned(call, context);
    if (tool === undefined) continue;
    const proposal = proposalOf(tool, call.part.input, textOfTurn(turn));
    const answer = await session.decide({ call: call.id, kind: approvalKind(tool), proposal });
    if (answer === undefined) waiting.push({ call, tool });
    else answers.set(call.id, answer);
  }
  const [first] = waiting;
  if (first !== undefined) {
    await keep({ v: 1, kind: 'waiting', calls: waiting.map(({ call }) => call.id) });
    return { kind: 'blocked', reason: `approval_required:${approvalKind(first.tool)}` };
  }
  // The final answer is judged after the other calls of its turn.
  const own = (call: TurnCall) => context.form.kind === 'tool' && call.part.toolName === context.form.tool.name;
  let allWell = turn.calls.every(call => call.ended === undefined || call.ended.status === 'succeeded');
  for (const call of [...open.filter(one => !own(one)), ...open.filter(own)]) {
    if (session.signal.aborted) return failed(canceledFailure());
    const startedAt = context.now();
    const tool = call.part.toolName;
    context.stream('tool_start', { call: call.id, tool, input: call.part.input });
    const answer = answers.get(call.id);
    const run = own(call)
      ? { ending: judgedAnswer(call, context.form, allWell) }
      : await runCall(call, answer, context);
    if (run.ending !== undefined) {
      const { status, output } = run.ending;
      const ms = Math.max(0, Math.round(context.now() - startedAt));
      const approval = approvalOf(call, answer);
      await keep({ v: 1, kind: 'tool_ended', call: call.id, tool, status, output, ms, approval });
      const message = output.type === 'error-text' ? { message: output.value } : {};
      context.stream('tool_end', { call: call.id, tool, outcome: status, ms, approval, ...message });
      allWell &&= status === 'succeeded';
    }
    if ('over' in run && run.over !== undefined) return run.over;
  }
  return undefined;
}

function approvalOf(call: TurnCall, answer: Resolution | undefined): Approval {
  return answer?.resolutionType ?? call.begun?.approval ?? 'not-needed';
}

/** The tool of a call that needs a person's approval. */
function questioned(call: TurnCall, { assignment, tools }: ToolTurnContext): AnyTool | undefined {
  if (call.begun !== undefined || call.part.malformed !== undefined) return undefined;
  const tool = tools.tools.find(one => one.name === call.part.toolName);
  if (tool === undefined || !isAllowed(tool.name, assignment.tools)) return undefined;
  // Nobody is asked about a call that cannot run.
  if (!tool.input.safeParse(call.part.input).success) return undefined;
  return needsApproval(tool, assignment.permissions) ? tool : undefined;
}

interface Run {
  readonly ending?: Ending;
  /** The attempt cannot go on. */
  readonly over?: AgentOutcome;
}

async function runCall(call: TurnCall, answer: Resolution | undefined, context: ToolTurnContext): Promise<Run> {
  const { part, begun } = call;
  const { assignment, tools } = context;
  if (part.malformed !== undefined)
    return refused(`The input is not a JSON object, so nothing was run: ${part.malformed.slice(0, 500)}`);
  const tool = tools.tools.find(one => one.name === part.toolName);
  if (tool === undefined)
    return refused(`There is no tool named ${JSON.stringify(part.toolName)}. Use one of those that were offered.`);
  if (!isAllowed(tool.name, assignment.tools))
    return refused(`The tool ${tool.name} is denied here, so nothing was run. Do without it.`);
  if (begun !== undefined) {
    const fate = await tools.fateOf?.(call.id);
    if (fate === 'committed') return { ending: answerLost(begun) };
    if (fate === 'held') return settledByPerson(call, context);
    // A missing record does not prove that there was no effect outside.
    if (begun.external) return { ending: unknownOutcome(begun) };
  }
  const permission: Permission =
    answer === undefined
      ? { kind: 'run', input: begun?.input ?? part.input, modified: begun?.approval === 'modify', rationale: '' }
      : permissionOf(answer, part.input);
  if (permission.kind === 'denied')
    return { ending: { status: 'denied', output: errorText(permission.reason.trim()) } };
  const { input } = permission;
  if (begun === undefined && (tool.effects.kind === 'files' || tool.effects.kind === 'external')) {
    // What it does elsewhere is not undone, so it must not be repeated.
    const external = tool.effects.kind === 'external' || tool.effects.beyond === true;
    const approval = approvalOf(call, answer);
    await context.keep({ v: 1, kind: 'tool_begun', call: call.id, tool: tool.name, input, external, approval });
  }
  return executed(call, input, permission.modified ? permission : undefined, context);
}

/** A call whose changes conflict with somebody else's, or that git would run: a person decides about them. */
async function settledByPerson(call: TurnCall, context: ToolTurnContext): Promise<Run> {
  const { session, tools, keep } = context;
  for (;;) {
    const stored = tools.held?.(call.id);
    if (stored === undefined)
      return refused('What it changed met changes of somebody else, and is not there any more.');
    const now = await tools.heldNow?.(call.id);
    const held = now?.held ?? stored;
    const isReview = held.conflicts.length === 0;
    const shown = {
      title: `The command ${shownCommand(call)}`,
      diff: isReview ? ((await tools.heldDiff?.(call.id)) ?? '') : '',
    };
    const answer = await session.decide(isReview ? reviewQuestion(call.id, held, shown) : heldQuestion(call.id, held));
    if (answer === undefined) {
      await now?.keep();
      await keep({ v: 1, kind: 'waiting', calls: [call.id] });
      return { over: { kind: 'blocked', reason: 'approval_required:choice' } };
    }
    const outcome = await tools.settle?.(call.id, heldChoiceOf(answer), 'person');
    if (outcome !== undefined) return { ending: endingOf(outcome, call.part.input, undefined) };
  }
}

const MOST_SHOWN = 200;

function shownCommand({ begun, part }: TurnCall): string {
  const { command } = begun?.input ?? part.input;
  return JSON.stringify(cutAtWord(Array.isArray(command) ? command.join(' ') : part.toolName, MOST_SHOWN));
}

async function executed(
  call: TurnCall,
  input: JsonObject,
  modified: { readonly rationale: string } | undefined,
  context: ToolTurnContext,
): Promise<Run> {
  const { session, tools } = context;
  const request = { id: call.id, name: call.part.toolName, input };
  let outcome: ToolOutcome | undefined;
  let over: AgentOutcome | undefined;
  try {
    const result = await tools.runner.execute(request, { signal: session.signal });
    if (result.ok) outcome = result.value;
    else {
      outcome = result.error.outcome;
      over = failed(taskFailure('deadline-passed', `${result.error.message}. ${result.error.suggestion}`));
    }
  } catch (thrown) {
    if (!(thrown instanceof Error) || thrown.name !== 'VisibilityExpansionRequired') throw thrown;
    return refused(`${thrown.message} Nothing was changed.`);
  }
  if (outcome?.status === 'failed' && outcome.rollback.kind === 'held') return settledByPerson(call, context);
  // A call undone because of a cancellation may run again: it has not ended.
  if (outcome?.status === 'failed' && outcome.error.code === 'tool/canceled' && session.signal.aborted) {
    const message = `${outcome.error.message}.${rollbackWords(outcome.rollback)}`;
    context.stream('tool_end', { call: call.id, tool: call.part.toolName, outcome: 'canceled', message });
    return { over: over ?? failed(canceledFailure()) };
  }
  return {
    ...(outcome && { ending: endingOf(outcome, input, modified) }),
    ...(over && { over }),
  };
}

function endingOf(
  outcome: ToolOutcome,
  input: JsonObject,
  modified: { readonly rationale: string } | undefined,
): Ending {
  const changed = modified === undefined ? undefined : changedInput(input, modified.rationale);
  switch (outcome.status) {
    case 'succeeded': {
      const plain = json.safeParse(plainData(outcome.value));
      // It took effect; only its answer cannot be represented.
      const result = plain.success ? plain.data : `The answer cannot be shown: ${plain.error.issues[0]?.message}`;
      const notes = [...outcome.warnings, ...(changed === undefined ? [] : [changed])];
      return { status: 'succeeded', output: { type: 'json', value: notes.length === 0 ? result : { result, notes } } };
    }
    case 'failed': {
      const said = outcome.value === undefined ? '' : `\n${JSON.stringify(outcome.value)}`;
      const text = `${outcome.error.message}. ${outcome.error.suggestion}${rollbackWords(outcome.rollback)}${said}`;
      return { status: 'failed', output: errorText(changed === undefined ? text : `${changed}\n${text}`) };
    }
    case 'unknown':
      return { status: 'unknown', output: errorText(`${outcome.error.message}. ${outcome.error.suggestion}`) };
  }
}

/** The final answer takes effect only if it fits and nothing else in its turn failed. */
function judgedAnswer(call: TurnCall, form: AnswerForm, allWell: boolean): Ending {
  if (form.kind !== 'tool')
    return { status: 'refused', output: errorText('No final answer is asked for in this way.') };
  if (!allWell) {
    return {
      status: 'refused',
      output: errorText('Not accepted: another call of this turn did not succeed. Look at it, then answer.'),
    };
  }
  if (call.part.malformed !== undefined)
    return { status: 'failed', output: errorText('The answer is not a JSON object.') };
  const checked = form.check(call.part.input);
  if (!checked.ok)
    return { status: 'failed', output: errorText(`The answer does not fit the schema.\n${checked.error}`) };
  return { status: 'succeeded', output: { type: 'json', value: { accepted: true } } };
}

function refused(reason: string): Run {
  return { ending: { status: 'refused', output: errorText(reason) } };
}

function unknownOutcome(begun: EntryOf<'tool_begun'>): Ending {
  const text =
    'The outcome is unknown: the work was interrupted while this call ran, and it cannot be undone. It may or may not have happened, and was not repeated. Find out before you do it again.';
  return { status: 'unknown', output: errorText([...changeOf(begun), text].join('\n')) };
}

function answerLost(begun: EntryOf<'tool_begun'>): Ending {
  const lost = 'The call succeeded and took effect; its answer was lost in an interruption. It was not repeated.';
  return { status: 'succeeded', output: { type: 'json', value: { result: null, notes: [lost, ...changeOf(begun)] } } };
}

function changeOf(begun: EntryOf<'tool_begun'>): readonly string[] {
  return begun.approval === 'modify' ? [changedInput(begun.input, '')] : [];
}

function changedInput(input: JsonObject, rationale: string): string {
  return `A person changed the input of this call to ${JSON.stringify(input)}. ${rationale}`.trim();
}

function errorText(value: string): Ending['output'] {
  return { type: 'error-text', value: value.toWellFormed() };
}
