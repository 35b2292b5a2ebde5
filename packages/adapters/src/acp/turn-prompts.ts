import { type ClientContext, type ContentBlock, methods } from '@agentclientprotocol/sdk';
import type { Assignment, HeardMessages } from '@signalbox/runs';
import { type AnswerCheck, MAX_CORRECTIONS } from '../attempt/answer-check.ts';
import { plainData } from '../attempt/plain-data.ts';
import { canceledFailure } from '../attempt/task-failure.ts';
import type { TurnEnd } from './agent-turn.ts';
import type { LeftSession } from './left-session.ts';
import type { PermissionDesk } from './permission-desk.ts';
import type { AgentRow } from './register.ts';
import { promptUsage } from './session-update.ts';
import type { TurnBook } from './turn-book.ts';
import { exhausted, stopped, unfitting } from './turn-failures.ts';
import { answerWithin, correction, textOf, toldDecisions, toldMessages } from './turn-prompt.ts';
import type { TurnQuestions } from './turn-questions.ts';
import type { TurnSpending } from './turn-spending.ts';

export interface PromptsContext {
  readonly assignment: Assignment;
  readonly row: AgentRow;
  readonly agent: ClientContext;
  readonly sessionId: string;
  readonly signal: AbortSignal;
  readonly check: AnswerCheck | undefined;
  readonly book: TurnBook;
  readonly desk: PermissionDesk;
  readonly questions: TurnQuestions;
  readonly spending: TurnSpending;
  /** Called before each prompt; false if the turn is over. */
  mayPrompt(): Promise<boolean>;
  /** What people wrote to the agent since it was told last. */
  unheard(): Promise<HeardMessages | undefined>;
  /** Called when a prompt is answered. */
  answered(): void;
}

export interface FirstPrompt {
  readonly blocks: readonly ContentBlock[];
  /** Whether it is all that the agent is to know, not only what is new in its session. */
  readonly isFull: boolean;
  /** The session, if it is an earlier one. */
  readonly left?: LeftSession;
}

/**
 * Prompts an agent until its answer counts. A prompt follows for people's words that it could not be told before, and for an answer that
 * does not fit. Undefined if the turn ended meanwhile.
 */
export async function promptUntilAnswered(first: FirstPrompt, context: PromptsContext): Promise<TurnEnd | undefined> {
  const { assignment, row, agent, sessionId, signal, check, book, desk, questions, spending } = context;
  let { blocks, isFull } = first;
  let corrections = first.left?.corrections ?? 0;
  let tokens = first.left?.tokens ?? 0;
  // A prompt that was cut off is the same prompt when it is continued.
  for (let number = Math.max(1, first.left?.prompt ?? 1); ; number++) {
    if (!(await context.mayPrompt())) return undefined;
    const heard = await context.unheard();
    if (heard !== undefined) {
      book.keep(plainData(heard));
      blocks = [...blocks, ...toldMessages(heard)];
    }
    const prompted = { prompt: number, session: sessionId, isFull, text: textOf(blocks), blocks };
    book.prompted(plainData({ v: 1, kind: 'prompted', ...prompted }));
    await book.settled();
    const answer = await agent.request(methods.agent.session.prompt, { sessionId, prompt: [...blocks] });
    context.answered();
    const usage = promptUsage.safeParse((answer as { readonly usage?: unknown }).usage);
    tokens += (usage.data?.inputTokens ?? 0) + (usage.data?.outputTokens ?? 0);
    const text = book.answered(await spending.prompted(usage.data));
    await book.settled();
    if (signal.aborted) return { kind: 'failed', error: canceledFailure() };
    const isDone = answer.stopReason === 'end_turn';
    const wasStopped = !isDone && book.wasDenied() && ['cancelled', 'refusal'].includes(answer.stopReason);
    if (!isDone && !wasStopped) return { kind: 'failed', error: stopped(row, assignment, answer.stopReason, text) };
    const answers = await questions.answers();
    if (answers === undefined) return { kind: 'blocked', reason: `approval_required:${questions.open() ?? 'choice'}` };
    const words = [...desk.takeWords(wasStopped), ...answers];
    const hasTokens = assignment.maxTokens === undefined || tokens < assignment.maxTokens;
    const mayGoOn = number < assignment.maxTurns && hasTokens;
    isFull = false;
    if (words.length > 0 && mayGoOn) {
      blocks = toldDecisions(words);
      continue;
    }
    if (mayGoOn && (await context.unheard()) !== undefined) {
      blocks = [];
      continue;
    }
    if (check === undefined) return { kind: 'answered', output: text };
    const checked = answerWithin(text, check);
    if (checked.ok) return { kind: 'answered', output: checked.value };
    if (corrections++ >= MAX_CORRECTIONS) return { kind: 'failed', error: unfitting(assignment, checked.error) };
    if (!mayGoOn) return { kind: 'failed', error: exhausted(assignment, hasTokens, text) };
    blocks = correction(checked.error);
    book.keep({ v: 1, kind: 'correction', text: textOf(blocks) });
  }
}
