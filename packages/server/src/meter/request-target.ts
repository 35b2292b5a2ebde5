/** Characters that providers and proxies read differently once they are decoded: slash, dot, backslash, percent, query, fragment, nul. */
const AMBIGUOUS = /%(?:2f|2e|5c|25|3f|23|00)|\/\/|[\\;]/i;

/**
 * The path of a request, if it is the one that its provider will see: what was looked at is what is sent. Undefined for absolute addresses, for
 * paths with dots or doubled slashes, and for whatever has more than one reading.
 */
export function pathOf(target: string): string | undefined {
  const [path = ''] = target.split('?', 1);
  if (!path.startsWith('/') || target.includes('#') || AMBIGUOUS.test(path)) return undefined;
  return URL.parse(`http://127.0.0.1${target}`)?.pathname === path ? path : undefined;
}

/** Providers take these for the method, whatever the method is. */
const OVERRIDES = ['x-http-method-override', 'x-http-method', 'x-method-override'];

export function overridesMethod(headers: Readonly<Record<string, unknown>>, query: URLSearchParams): boolean {
  return OVERRIDES.some(name => headers[name] !== undefined) || query.has('$httpMethod') || query.has('_method');
}
