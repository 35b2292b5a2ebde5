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

/** The path and query with the real key, if the agent's key is in it. */
export function withKey(url: string, key: string, real: string): string {
  return url.replace(key, encodeURIComponent(real));
}

/** Raw headers as they go out: the same names, values and order, but for those of the connection, the host and the key. */
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
    else yield lower === 'host' ? replaced.host : value.replace(replaced.key, () => replaced.real);
  }
}
