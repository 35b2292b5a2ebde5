import canonicalize from 'canonicalize';
import { Bug } from './bug.ts';
import { plainDataFault } from './json.ts';
import { err, ok, type Result } from './result.ts';

/**
 * RFC 8785 text of a value that is known to be plain data: one text per value, whatever order its keys were made in.
 * Throws a `Bug` for what is not plain data (NaN, lone surrogates, functions, dates, cycles).
 */
export function canonicalJson(value: unknown): string {
  const canonical = tryCanonicalJson(value);
  if (!canonical.ok) throw new Bug(`not plain data: ${canonical.error.reason}`);
  return canonical.value;
}

/** The same for values from outside, where failing is expected. */
export function tryCanonicalJson(
  value: unknown,
): Result<string, { readonly code: 'not_json'; readonly reason: string }> {
  const fault = plainDataFault(value);
  if (fault !== undefined) return err({ code: 'not_json', reason: fault });
  const canonical = canonicalize(value);
  if (canonical === undefined) throw new Bug('plain data has no canonical text');
  return ok(canonical);
}
