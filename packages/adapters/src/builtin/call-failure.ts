import {
  APICallError,
  EmptyResponseBodyError,
  InvalidResponseDataError,
  JSONParseError,
  TypeValidationError,
} from '@ai-sdk/provider';
import { thrownMessage } from '@signalbox/model';
import { classifyFailure, DEFAULT_BACKOFF_MS, type FailureFacts, type TaskError } from '@signalbox/runs';
import { taskFailure } from '../attempt/task-failure.ts';
import type { ResolvedModel } from './model-source.ts';
import { ScriptUnmatched } from './scripted-model.ts';

/** The task failure for a failed call. A model call changes nothing, so repeating it does no harm. */
export function callFailure(
  cause: unknown,
  resolved: ResolvedModel,
  { inStream }: { readonly inStream: boolean },
): TaskError {
  const model = `${resolved.name.provider}:${resolved.name.model}`;
  const reason = reasonOf(cause);
  if (cause instanceof ScriptUnmatched) return taskFailure('script-unmatched', reason);
  const facts = factsOf(cause);
  if (isMalformed(cause)) {
    return taskFailure('answer-malformed', `What ${model} answered could not be read: ${reason}`, {
      class: 'retryable',
    });
  }
  // A stream that started and then failed without a reason was not refused.
  if (inStream && facts.status === undefined && facts.systemCode === undefined) {
    return taskFailure('provider-failed', `${model} broke off its answer: ${reason}`, { class: 'retryable' });
  }
  if (isOutOfCredit(cause)) {
    return taskFailure('provider-refused', `The account for ${model} has no credit left: ${reason}`);
  }
  const errorClass = classifyFailure(facts, 'none');
  const shown = facts.status === undefined ? '' : ` (${facts.status})`;
  if (facts.status === 429 || facts.status === 529) {
    return taskFailure('rate_limit', `${model} takes no more requests now${shown}: ${reason}`, {
      class: errorClass,
    });
  }
  if (errorClass === 'retryable' || facts.status === undefined) {
    return taskFailure('provider-failed', `The call of ${model} failed${shown}: ${reason}`, { class: errorClass });
  }
  if (isKeyRefused(cause, facts.status)) {
    const { keyVariable } = resolved;
    const key = keyVariable === undefined ? 'who asks' : `the key in ${keyVariable}: check it`;
    return taskFailure('provider-refused', `${model} refused ${key}${shown}. It said: ${reason}`);
  }
  if (facts.status === 404) {
    return taskFailure('model-unknown', `${model} is not there${shown}: ${reason} Check the name of the model.`);
  }
  return taskFailure(
    facts.status === 402 ? 'provider-refused' : 'request-refused',
    `${model} refused the request${shown}: ${reason}${advice(facts.status)}`,
  );
}

/** How long a provider asks to wait; undefined unless it refused because it is busy. */
export function retryAfterOf(cause: unknown, now: number): number | undefined {
  if (isOutOfCredit(cause)) return undefined;
  const status = factsOf(cause).status;
  const headers = headersOf(cause);
  const body = APICallError.isInstance(cause) ? (cause.responseBody ?? '') : '';
  const asked = headerMs(headers, now) ?? retryInfoMs(body);
  if (asked !== undefined) return asked;
  return status === 429 || status === 529 ? DEFAULT_BACKOFF_MS : undefined;
}

/** The headers of a refusal. */
export function headersOf(cause: unknown): Readonly<Record<string, string>> {
  return APICallError.isInstance(cause) ? (cause.responseHeaders ?? {}) : {};
}

function headerMs(headers: Readonly<Record<string, string>>, now: number): number | undefined {
  const ms = Number(headers['retry-after-ms']?.trim() || Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return Math.ceil(ms);
  const value = headers['retry-after']?.trim();
  if (value === undefined || value === '') return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds < 0 ? undefined : Math.ceil(seconds * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Google says it in the body: `"retryDelay": "12.5s"`. */
function retryInfoMs(body: string): number | undefined {
  const seconds = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
  return seconds === undefined ? undefined : Math.ceil(Number(seconds) * 1000);
}

const timeouts: ReadonlySet<string> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

function factsOf(cause: unknown): FailureFacts {
  const status = statusOf(cause);
  if (status !== undefined) return { status };
  const code = codeOf(cause);
  if (code !== undefined && timeouts.has(code)) return { timedOut: true };
  if (code?.startsWith('UND_ERR')) return { systemCode: 'ECONNRESET' };
  if (code !== undefined) return { systemCode: code };
  if (isNamed(cause, 'TimeoutError')) return { timedOut: true };
  // The platform's own error for a broken connection.
  if (cause instanceof TypeError && /terminated|fetch failed/.test(cause.message)) return { systemCode: 'ECONNRESET' };
  return APICallError.isInstance(cause) && cause.isRetryable ? { systemCode: 'ECONNRESET' } : {};
}

function statusOf(cause: unknown): number | undefined {
  if (typeof cause !== 'object' || cause === null || !('statusCode' in cause)) return undefined;
  return typeof cause.statusCode === 'number' && cause.statusCode >= 400 ? cause.statusCode : undefined;
}

/** The system's code, however deeply nested. */
function codeOf(cause: unknown, depth = 0): string | undefined {
  if (typeof cause !== 'object' || cause === null || depth > 5) return undefined;
  if ('code' in cause && typeof cause.code === 'string' && /^(E[A-Z]+|UND_ERR\w*)$/.test(cause.code)) return cause.code;
  return 'cause' in cause ? codeOf(cause.cause, depth + 1) : undefined;
}

/** Looks like a refusal because of load, but waiting does not help. */
function isOutOfCredit(cause: unknown): boolean {
  return (
    APICallError.isInstance(cause) && cause.statusCode === 429 && /"insufficient_quota"/.test(cause.responseBody ?? '')
  );
}

function isMalformed(cause: unknown): boolean {
  if (APICallError.isInstance(cause)) return (cause.statusCode ?? 0) === 200 && codeOf(cause) === undefined;
  return [JSONParseError, TypeValidationError, InvalidResponseDataError, EmptyResponseBodyError].some(type =>
    type.isInstance(cause),
  );
}

function isNamed(cause: unknown, name: string): boolean {
  return cause instanceof Error && cause.name === name;
}

function reasonOf(cause: unknown): string {
  try {
    const isPlain = typeof cause === 'object' && cause !== null && !('message' in cause);
    return isPlain ? (JSON.stringify(cause) ?? thrownMessage(cause)) : thrownMessage(cause);
  } catch {
    return thrownMessage(cause);
  }
}

/** Google reports an invalid key as a bad request. */
function isKeyRefused(cause: unknown, status: number | undefined): boolean {
  if (status === 401 || status === 403) return true;
  return status === 400 && APICallError.isInstance(cause) && /"API_KEY_INVALID"/.test(cause.responseBody ?? '');
}

function advice(status: number): string {
  return status === 400 || status === 413 ? ' If the conversation grew too long, give the node a history limit.' : '';
}
