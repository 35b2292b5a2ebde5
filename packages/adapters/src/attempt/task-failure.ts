import { cutAtWord } from '@signalbox/model';
import type { AgentOutcome, CallReport, TaskError } from '@signalbox/runs';

/** Why an agent's work ended without an output. */
export type FailureCode =
  | 'model-unknown'
  | 'key-missing'
  | 'address-invalid'
  | 'script-invalid'
  | 'script-unmatched'
  | 'price-unknown'
  | 'schema-unsupported'
  | 'transcript-unreadable'
  | 'resume-refused'
  | 'turns-exhausted'
  | 'tokens-exhausted'
  | 'budget-exceeded'
  | 'deadline-passed'
  | 'output-invalid'
  | 'answer-truncated'
  | 'answer-refused'
  | 'answer-empty'
  | 'answer-malformed'
  | 'answer-cut-off'
  | 'provider-stalled'
  | 'provider-refused'
  | 'request-refused'
  | 'rate_limit'
  | 'provider-failed'
  | 'canceled'
  | 'agent-not-started'
  | 'agent-not-asking'
  | 'agent-left-asking'
  | 'agent-violation'
  | 'agent-malformed'
  | 'agent-line-too-long'
  | 'agent-failed'
  | 'agent-exited'
  | 'agent-silent'
  | 'agent-refused'
  | 'agent-cost-unknown'
  | 'changes-dropped'
  | 'check-failed'
  | 'no-layer'
  | 'changes-not-applied';

const MAX_MESSAGE = 4_000;

export function taskFailure(
  code: FailureCode,
  message: string,
  more: { readonly class?: TaskError['class']; readonly retryAfterMs?: number } = {},
): TaskError {
  const { class: errorClass = 'terminal', retryAfterMs } = more;
  const text = cutAtWord(message.toWellFormed(), MAX_MESSAGE);
  return { class: errorClass, code, message: text, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

export function failed(error: TaskError): AgentOutcome {
  return { kind: 'failed', error };
}

/** Canceled work may be retried. */
export function canceledFailure(): TaskError {
  return taskFailure('canceled', 'The work was canceled.', { class: 'retryable' });
}

/** Failures caused by the provider or its key, not by the request or the answer. */
const ofProvider: ReadonlySet<string> = new Set<FailureCode>([
  'rate_limit',
  'provider-failed',
  'provider-refused',
  'provider-stalled',
  'answer-cut-off',
  'answer-malformed',
  'script-unmatched',
]);

/** What a failed call says about the provider; undefined (nothing) if it was canceled or the model does not exist. */
export function reportOf({ code, message }: TaskError, retryAfterMs: number | undefined): CallReport | undefined {
  if (retryAfterMs !== undefined) return { kind: 'refused', retryAfterMs, error: { code, message } };
  if (ofProvider.has(code)) return { kind: 'failed', error: { code, message } };
  return code === 'canceled' || code === 'model-unknown' ? undefined : { kind: 'answered' };
}
