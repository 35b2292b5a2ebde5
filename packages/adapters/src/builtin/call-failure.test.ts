import { APICallError } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { reportOf } from '../attempt/task-failure.ts';
import { callFailure, retryAfterOf } from './call-failure.ts';
import { createScriptedModel } from './scripted-model.ts';

const now = Date.UTC(2026, 0, 1);
const resolved = {
  name: { provider: 'anthropic', model: 'm' },
  model: createScriptedModel('x', { version: 1, rules: [{ text: 'x' }] }),
  secrets: [],
  keyVariable: 'ANTHROPIC_API_KEY',
};

function refusal(
  statusCode: number | undefined,
  headers: Record<string, string> = {},
  responseBody = '',
  cause?: unknown,
) {
  return new APICallError({
    message: 'no',
    url: 'http://127.0.0.1/',
    requestBodyValues: {},
    responseHeaders: headers,
    responseBody,
    cause,
    ...(statusCode !== undefined && { statusCode }),
  });
}

describe('a call that failed', () => {
  it.each([
    [{ 'retry-after': '2' }, '', 2_000],
    [{ 'retry-after': '0.5' }, '', 500],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:01:00 GMT' }, '', 60_000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' }, '', 0],
    [{ 'retry-after-ms': '120', 'retry-after': '9' }, '', 120],
    [{ 'retry-after': 'soon' }, '', 1_000],
    [{ 'retry-after': '-5' }, '', 1_000],
    [{}, '{"error":{"details":[{"retryDelay": "12.5s"}]}}', 12_500],
    [{}, '', 1_000],
  ])('[B22] says with %j %s to wait', (headers, body, ms) => {
    expect(retryAfterOf(refusal(429, headers, body), now)).toBe(ms);
  });

  it('[B22] does not ask to wait where it was not busy', () => {
    expect(retryAfterOf(refusal(500), now)).toBeUndefined();
    expect(retryAfterOf(refusal(429, {}, '{"error":{"type":"insufficient_quota"}}'), now)).toBeUndefined();
    expect(retryAfterOf(new Error('odd'), now)).toBeUndefined();
    expect(retryAfterOf(refusal(503, { 'retry-after': '3' }), now)).toBe(3_000);
  });

  it.each([
    [refusal(429), 'retryable', 'rate_limit'],
    [refusal(429, {}, '{"error":{"code":"insufficient_quota"}}'), 'terminal', 'provider-refused'],
    [refusal(529), 'retryable', 'rate_limit'],
    [refusal(500), 'retryable', 'provider-failed'],
    [refusal(502), 'retryable', 'provider-failed'],
    [refusal(408), 'retryable', 'provider-failed'],
    [refusal(400), 'terminal', 'request-refused'],
    [refusal(400, {}, '{"error":{"details":[{"reason":"API_KEY_INVALID"}]}}'), 'terminal', 'provider-refused'],
    [refusal(401), 'terminal', 'provider-refused'],
    [refusal(402), 'terminal', 'provider-refused'],
    [refusal(403), 'terminal', 'provider-refused'],
    [refusal(404), 'terminal', 'model-unknown'],
    [refusal(413), 'terminal', 'request-refused'],
    [
      refusal(undefined, {}, '', Object.assign(new Error('x'), { code: 'ECONNREFUSED' })),
      'retryable',
      'provider-failed',
    ],
    [refusal(undefined, {}, '', Object.assign(new Error('x'), { code: 'ENOTFOUND' })), 'retryable', 'provider-failed'],
    [refusal(200), 'retryable', 'answer-malformed'],
    [Object.assign(new TypeError('terminated'), { cause: { code: 'UND_ERR_SOCKET' } }), 'retryable', 'provider-failed'],
    [Object.assign(new Error('x'), { code: 'UND_ERR_HEADERS_TIMEOUT' }), 'retryable', 'provider-failed'],
    [Object.assign(new Error('x'), { name: 'TimeoutError' }), 'retryable', 'provider-failed'],
    [new Error('a certificate has expired'), 'terminal', 'provider-failed'],
    ['text', 'terminal', 'provider-failed'],
    [undefined, 'terminal', 'provider-failed'],
  ])('[B23] %s is %s', (cause, errorClass, code) => {
    expect(callFailure(cause, resolved, { inStream: false })).toMatchObject({ class: errorClass, code });
  });

  it.each([
    [429, 'refused'],
    [529, 'refused'],
    [500, 'failed'],
    [502, 'failed'],
    [408, 'failed'],
    [undefined, 'failed'],
    [401, 'failed'],
    [403, 'failed'],
    [400, 'answered'],
    [413, 'answered'],
    [422, 'answered'],
    [404, undefined],
  ])('[B32] with status %s counts as %s', (status, kind) => {
    const cause = refusal(status, {}, '', status === undefined ? { code: 'ECONNREFUSED' } : undefined);
    const error = callFailure(cause, resolved, { inStream: false });
    expect(reportOf(error, retryAfterOf(cause, now))?.kind).toBe(kind);
  });

  it('[B32] because of its key names where the key is, whatever else is said', () => {
    const cause = Object.assign(refusal(401), { message: 'x'.repeat(9_999) });
    const { message } = callFailure(cause, resolved, { inStream: false });
    expect(message.slice(0, 100)).toContain('refused the key in ANTHROPIC_API_KEY: check it (401)');
  });

  it('[B23] in the middle of a stream may pass', () => {
    expect(callFailure({ message: 'overloaded' }, resolved, { inStream: true })).toMatchObject({
      class: 'retryable',
      code: 'provider-failed',
      message: expect.stringContaining('overloaded'),
    });
  });
});
