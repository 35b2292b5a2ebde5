import canonicalize from 'canonicalize';
import { Bug } from './bug.ts';
import { err, ok, type Result } from './result.ts';

/**
 * RFC 8785 text of a value that is known to be plain data: one text per value, whatever order its keys were made in.
 * Throws a `Bug` for what is not JSON (NaN, lone surrogates, functions, cycles).
 */
export function canonicalJson(value: unknown): string {
  const text = tryCanonicalJson(value);
  if (!text.ok) throw new Bug(`not plain data: ${text.error.reason}`);
  return text.value;
}

/** The same for values from outside, where failing is expected. */
export function tryCanonicalJson(
  value: unknown,
): Result<string, { readonly code: 'not_json'; readonly reason: string }> {
  try {
    const text = canonicalize(value);
    return text === undefined ? err({ code: 'not_json', reason: `${typeof value} has no JSON form` }) : ok(text);
  } catch (cause) {
    return err({ code: 'not_json', reason: cause instanceof Error ? cause.message : String(cause) });
  }
}
