import type { Json } from '@signalbox/model';
import type { Assignment, TaskError } from '@signalbox/runs';
import { answerInText, MAX_CORRECTIONS } from '../attempt/answer-check.ts';
import { taskFailure } from '../attempt/task-failure.ts';
import type { AnswerForm } from './final-answer.ts';
import { type Conversation, type Turn, textOfTurn } from './transcript.ts';

export type Step =
  | { readonly kind: 'ask-model' }
  | { readonly kind: 'run-calls'; readonly turn: Turn }
  /** Tell the model what is wrong with its answer. */
  | { readonly kind: 'correct'; readonly text: string }
  | { readonly kind: 'done'; readonly output: Json }
  | { readonly kind: 'fail'; readonly error: TaskError };

/** The next step follows from the transcript alone, so it is the same after a crash. */
export function nextStep(
  conversation: Conversation,
  tokens: number,
  assignment: Pick<Assignment, 'node' | 'maxTurns' | 'maxTokens'>,
  form: AnswerForm,
): Step {
  const turn = conversation.turns.at(-1);
  if (turn === undefined) return limited();
  if (turn.calls.some(call => call.ended === undefined)) return { kind: 'run-calls', turn };
  const answered = answerOf(turn, form);
  const hasRoom =
    conversation.turns.length < assignment.maxTurns &&
    (assignment.maxTokens === undefined || tokens < assignment.maxTokens);
  // What a person said after the answer asks for another one.
  if (answered.kind === 'output' && (turn.told.length === 0 || !hasRoom)) {
    return { kind: 'done', output: answered.output };
  }
  if (answered.kind === 'invalid') {
    const invalid = conversation.turns.filter(one => answerOf(one, form).kind === 'invalid').length;
    if (invalid > MAX_CORRECTIONS) return { kind: 'fail', error: outputInvalid(assignment, answered.problem) };
    if (turn.calls.length === 0 && turn.correction === undefined) {
      return { kind: 'correct', text: `The answer does not fit. ${answered.problem}\n${askAgain(form)}` };
    }
  }
  return limited();

  function limited(): Step {
    const { maxTurns, maxTokens } = assignment;
    const reached = turn === undefined ? '' : ` It last said: ${JSON.stringify(textOfTurn(turn).slice(0, 500))}`;
    if (conversation.turns.length >= maxTurns) {
      const message = `Node ${assignment.node} took its ${maxTurns} turns without a final answer. Raise maxTurns, or ask for less.${reached}`;
      return { kind: 'fail', error: taskFailure('turns-exhausted', message) };
    }
    if (maxTokens !== undefined && tokens >= maxTokens) {
      const message = `Node ${assignment.node} used ${tokens} of its ${maxTokens} tokens without a final answer. Raise maxTokens, or ask for less.${reached}`;
      return { kind: 'fail', error: taskFailure('tokens-exhausted', message) };
    }
    return { kind: 'ask-model' };
  }
}

type Answered =
  | { readonly kind: 'none' }
  | { readonly kind: 'output'; readonly output: Json }
  | { readonly kind: 'invalid'; readonly problem: string };

/** Whether a turn whose calls have all ended gives the final answer. */
function answerOf(turn: Turn, form: AnswerForm): Answered {
  if (form.kind === 'text')
    return turn.calls.length > 0 ? { kind: 'none' } : { kind: 'output', output: textOfTurn(turn) };
  if (form.kind === 'tool') {
    const call = turn.calls.find(one => one.part.toolName === form.tool.name);
    if (call?.ended?.status === 'succeeded') {
      const checked = form.check(call.part.input);
      if (checked.ok) return { kind: 'output', output: checked.value };
    }
    if (call?.ended?.status === 'failed') return { kind: 'invalid', problem: String(call.ended.output.value) };
  }
  if (turn.calls.length > 0) return { kind: 'none' };
  const inText = answerInText(textOfTurn(turn));
  const checked = inText.ok ? form.check(inText.value) : inText;
  return checked.ok ? { kind: 'output', output: checked.value } : { kind: 'invalid', problem: checked.error };
}

function askAgain(form: AnswerForm): string {
  return form.kind === 'tool'
    ? `Call ${form.tool.name} with the corrected answer.`
    : 'Answer again, with nothing but JSON that fits the schema.';
}

function outputInvalid(assignment: Pick<Assignment, 'node'>, problem: string): TaskError {
  return taskFailure(
    'output-invalid',
    `Node ${assignment.node} gave ${MAX_CORRECTIONS + 1} answers that do not fit its schema. The last: ${problem}`,
  );
}
