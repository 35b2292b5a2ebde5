import { err, isPlainObject, type Json, ok, type Result } from '@signalbox/model';

/** Values known to be plain and deeply frozen; all parts of a member are members too. */
const known = new WeakSet<object>();

/** The nesting limit of plain data everywhere. */
const MAX_DEPTH = 500;

/**
 * The value itself, deeply frozen, if it is plain data. Parts that were already frozen are not walked again, so a value that shares most of
 * its parts with an older one costs only what is new.
 */
export function frozen(value: unknown): Result<Json, string> {
  const fault = freeze(value, 0);
  return fault === undefined ? ok(value as Json) : err(fault);
}

function freeze(value: unknown, depth: number): string | undefined {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? undefined : 'a string has a lone surrogate';
    case 'number':
      return Number.isFinite(value) ? undefined : `${value} is not a JSON number`;
    case 'boolean':
      return undefined;
    case 'object':
      return value === null || known.has(value) ? undefined : freezeParts(value, depth + 1);
    default:
      return `${typeof value} has no JSON form`;
  }
}

function freezeParts(value: object, depth: number): string | undefined {
  if (depth > MAX_DEPTH) return `nested deeper than ${MAX_DEPTH} levels, or without end`;
  const isList = Array.isArray(value);
  if (!isList && !isPlainObject(value)) return 'an instance of a class is not plain data';
  for (const part of isList ? value : Object.values(value)) {
    const fault = part === undefined && !isList ? undefined : freeze(part, depth);
    if (fault !== undefined) return fault;
  }
  if (!isList && Object.keys(value).some(key => !key.isWellFormed())) return 'a key has a lone surrogate';
  known.add(Object.freeze(value));
  return undefined;
}
