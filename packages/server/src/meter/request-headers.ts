import type { IncomingHttpHeaders } from 'node:http';

/** Headers in which vendors send keys. */
const KEYS = ['x-api-key', 'x-goog-api-key', 'api-key', 'authorization'] as const;
/** Headers that belong to one connection, not to the request. */
const OF_CONNECTION = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'upgrade', 'expect']);

/** The key of a request, in whichever place its vendor puts it. */
export function presentedKey(headers: IncomingHttpHeaders, query: URLSearchParams): string | undefined {
  for (const name of KEYS) {
    const value = headers[name];
    if (typeof value !== 'string' || value === '') continue;
    return value.replace(/^Bearer\s+/i, '');
  }
  return query.get('key') ?? undefined;
}

/** Each header once, in lower case. */
export function headersOf(headers: IncomingHttpHeaders): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
}

/** The path and query with the real key, if the agent's key is the parameter `key`. Nowhere else is it replaced: what is in another one may come back. */
export function withKey(target: string, key: string, real: string): string {
  const at = target.indexOf('?');
  if (at < 0) return target;
  const query = target
    .slice(at + 1)
    .split('&')
    .map(part => (part === `key=${key}` ? `key=${encodeURIComponent(real)}` : part));
  return `${target.slice(0, at)}?${query.join('&')}`;
}

/**
 * Raw headers as they go out: the same names, values and order, but for those of the connection, the host and the key. The key is replaced only in
 * headers that hold keys: providers quote others in their answers.
 */
export function* passedOn(
  raw: readonly string[],
  replaced?: { readonly host: string; readonly key: string; readonly real: string },
): Generator<string> {
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name = '', value = ''] = [raw[at], raw[at + 1]];
    const lower = name.toLowerCase();
    if (OF_CONNECTION.has(lower)) continue;
    yield name;
    if (replaced === undefined) yield value;
    else if (lower === 'host') yield replaced.host;
    else yield KEYS.some(one => one === lower) ? withRealKey(value, replaced) : value;
  }
}

function withRealKey(value: string, { key, real }: { readonly key: string; readonly real: string }): string {
  const scheme = /^Bearer\s+/i.exec(value)?.[0] ?? '';
  return value.slice(scheme.length).trim() === key ? `${scheme}${real}` : value;
}
