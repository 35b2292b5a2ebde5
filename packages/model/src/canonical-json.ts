import canonicalize from 'canonicalize';
import { Bug } from './bug.ts';
import { plainDataFault } from './json.ts';
import { err, ok, type Result } from './result.ts';

/**
 * The RFC 8785 text of a value known to be plain data: one text per value, regardless of key order. Throws a `Bug` for
 * anything else (NaN, lone surrogates, functions, dates, cycles).
 */
export function canonicalJson(value: unknown): string {
  const canonical = tryCanonicalJson(value);
  if (!canonical.ok) throw new Bug(`not plain data: ${canonical.error.reason}`);
  return canonical.value;
}

/** The same for untrusted values, where failure is expected. */
export function tryCanonicalJson(
  value: unknown,
): Result<string, { readonly code: 'not_json'; readonly reason: string }> {
  const fault = plainDataFault(value);
  if (fault !== undefined) return err({ code: 'not_json', reason: fault });
  const canonical = canonicalize(value);
  if (canonical === undefined) throw new Bug('plain data has no canonical text');
  return ok(canonical);
}
