import type { RequestError } from '@agentclientprotocol/sdk';
import { cutAtWord } from '@signalbox/model';
import type { Assignment, TaskError } from '@signalbox/runs';
import { MAX_CORRECTIONS } from '../attempt/answer-check.ts';
import { taskFailure } from '../attempt/task-failure.ts';
import type { AgentProcess } from './agent-process.ts';
import type { AgentRow } from './register.ts';

/** The agent ended before its turn did. */
export function exitedEarly({ title }: AgentRow, reason: string, process: AgentProcess): TaskError {
  const tail = process.stderrTail().trim();
  const errors = tail === '' ? '' : ` Its last errors:\n${tail.slice(-2_000)}`;
  const message = `${title} ended before its turn did: it ${reason}.${errors}`;
  return taskFailure('agent-exited', message, { class: 'retryable' });
}

export function silent({ title }: AgentRow, isReady: boolean, ms: number): TaskError {
  const what = isReady ? 'said nothing' : 'was not ready';
  return taskFailure('agent-silent', `${title} ${what} for ${ms} ms and was ended.`, { class: 'retryable' });
}

/** The agent answered a request of ours with an error. */
export function answeredError(row: AgentRow, { code, message, data }: RequestError): TaskError {
  const more = data === undefined ? '' : ` ${cutAtWord(JSON.stringify(data), 1_000)}`;
  if (code === -32000) {
    const hint = `Set one of ${row.variables.join(', ') || 'its variables'}, or log in to it.`;
    return taskFailure('key-missing', `${row.title} needs a login: ${message}.${more} ${hint}`);
  }
  return taskFailure('agent-failed', `${row.title} answered with an error: ${message}.${more}`, { class: 'retryable' });
}

/** The agent stopped its turn for another reason than being done. */
export function stopped({ title }: AgentRow, { node }: Assignment, reason: string, text: string): TaskError {
  const said = text === '' ? '' : ` It last said: ${JSON.stringify(text.slice(0, 500))}`;
  switch (reason) {
    case 'max_tokens':
      return taskFailure('answer-truncated', `The answer of ${title} is longer than its model can give.${said}`);
    case 'max_turn_requests':
      return taskFailure('turns-exhausted', `${title} took all requests that it may make for node ${node}.${said}`);
    case 'refusal':
      return taskFailure('agent-refused', `${title} refused to answer. Change the prompt.${said}`);
    default:
      return taskFailure('agent-failed', `${title} stopped its turn: ${reason}.${said}`, { class: 'retryable' });
  }
}

/** Paths changed on the layer, and no call was allowed that could have done it. */
export function unexplained({ title }: AgentRow, paths: readonly string[]): TaskError {
  const shown = paths.slice(0, 5).join(', ') + (paths.length > 5 ? ` and ${paths.length - 5} more` : '');
  return taskFailure(
    'agent-violation',
    `${title} changed ${shown} without asking. Nothing of it was applied. Check that its asking mode holds with \`signalbox agents doctor\`.`,
  );
}

export function unfitting({ node }: Assignment, problem: string): TaskError {
  const count = MAX_CORRECTIONS + 1;
  return taskFailure(
    'output-invalid',
    `Node ${node} gave ${count} answers that do not fit its schema. The last: ${problem}`,
  );
}

export function exhausted({ node, maxTurns, maxTokens }: Assignment, hasTokens: boolean, text: string): TaskError {
  const [code, took, limit] = hasTokens
    ? (['turns-exhausted', `took its ${maxTurns} turns`, 'maxTurns'] as const)
    : (['tokens-exhausted', `used its ${maxTokens} tokens`, 'maxTokens'] as const);
  const said = ` It last said: ${JSON.stringify(text.slice(0, 500))}`;
  return taskFailure(code, `Node ${node} ${took} without an answer that fits. Raise ${limit}, or ask for less.${said}`);
}
