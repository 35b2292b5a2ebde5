import type { CallReport, LimitWindow } from '@signalbox/runs';

type Headers = Readonly<Record<string, string | undefined>>;

/** What the head of an answer says about its provider: whether it refuses calls for a while, fails, or answers. */
export function reportOfAnswer(
  status: number,
  headers: Headers,
  windows: readonly LimitWindow[],
  now: number,
): CallReport {
  const error = {
    code: status === 429 ? 'rate_limit' : 'provider-failed',
    message: `It answered with status ${status}.`,
  };
  const retryAfterMs = status === 429 || status >= 500 ? retryAfter(headers, now) : undefined;
  if (retryAfterMs !== undefined) return { kind: 'refused', retryAfterMs, error, windows };
  if (status === 429 || status >= 500) return { kind: 'failed', error, windows };
  return { kind: 'answered', windows };
}

/** How long a provider asks to wait, in seconds or until a date; undefined if it does not. */
function retryAfter(headers: Headers, now: number): number | undefined {
  const ms = Number(headers['retry-after-ms'] ?? Number.NaN);
  if (ms >= 0) return ms;
  const text = headers['retry-after'];
  if (text === undefined) return undefined;
  if (/^\d+(\.\d+)?$/.test(text.trim())) return Number(text) * 1000;
  const until = Date.parse(text);
  return Number.isNaN(until) ? undefined : Math.max(0, until - now);
}
