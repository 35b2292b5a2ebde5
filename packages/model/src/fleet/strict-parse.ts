import type * as z from 'zod';
import { isPlainObject } from '../json.ts';
import { err, ok, type Result } from '../result.ts';

/** What is wrong with one field, in a sentence that names it. */
export interface Fault {
  /** `event.options[1].label`; empty for the whole value. */
  readonly field: string;
  readonly sentence: string;
}

/** The value as its schema has it, or every fault of it. There is at least one. */
export function parseStrictly<T>(schema: z.ZodType<T>, value: unknown): Result<T, readonly Fault[]> {
  const parsed = schema.safeParse(value);
  return parsed.success ? ok(parsed.data) : err(faultsOf(parsed.error.issues, value));
}

/** One fault for each issue. `value` is what was parsed. */
export function faultsOf(issues: readonly z.core.$ZodIssue[], value: unknown): readonly Fault[] {
  return issues.map(issue => faultOf(issue, value, []));
}

function faultOf(issue: z.core.$ZodIssue, root: unknown, above: readonly PropertyKey[]): Fault {
  const path = [...above, ...issue.path];
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const nearest = nearestBranch(issue.errors);
    if (nearest !== undefined) return faultOf(nearest, root, path);
  }
  const field = fieldName(path);
  const given = valueAt(root, path);
  return { field, sentence: `${field === '' ? 'The value' : `"${field}"`} ${complaint(issue, given)}.` };
}

/** The issue of the branch that was nearly right: the one that failed deepest inside, and with the fewest issues. */
function nearestBranch(branches: readonly (readonly z.core.$ZodIssue[])[]): z.core.$ZodIssue | undefined {
  const depth = (issues: readonly z.core.$ZodIssue[]) => Math.max(...issues.map(({ path }) => path.length));
  const best = branches
    .filter(issues => issues.length > 0)
    .toSorted((a, b) => depth(b) - depth(a) || a.length - b.length)[0];
  return best?.[0];
}

function complaint(issue: z.core.$ZodIssue, given: unknown): string {
  if (given === undefined && issue.code !== 'unrecognized_keys') return 'is missing';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeWords[issue.expected] ?? issue.expected}, not ${typeOf(given)}`;
    case 'invalid_value':
      return `must be ${listOf(issue.values.map(shown))}, not ${shown(given)}`;
    case 'unrecognized_keys':
      return `has ${issue.keys.length === 1 ? 'a field that is' : 'fields that are'} not part of it: ${issue.keys.map(shown).join(', ')}`;
    case 'too_big':
      return `must ${sizeWords(issue.origin, 'at most', Number(issue.maximum))}${sizeOf(issue.origin, given)}`;
    case 'too_small':
      return `must ${sizeWords(issue.origin, 'at least', Number(issue.minimum))}${sizeOf(issue.origin, given)}`;
    case 'invalid_format':
      return `${formatWords[issue.format] ?? ownWords(issue.message)}, not ${shown(given)}`;
    case 'invalid_union':
      return `is not a known value: ${shown(given)}`;
    default:
      return ownWords(issue.message);
  }
}

const typeWords: Readonly<Record<string, string>> = {
  string: 'text',
  int: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

const formatWords: Readonly<Record<string, string>> = {
  datetime: 'must be a time in UTC such as 2026-01-01T00:00:00Z',
  url: 'must be an address',
};

/** A message of one of our schemas is the rest of a sentence. */
function ownWords(message: string): string {
  return /^(must|cannot|belongs|has|is)\b/.test(message) ? message : `cannot be used: ${message}`;
}

function sizeWords(origin: string, limit: string, size: number): string {
  const unit = { string: 'character', array: 'item', set: 'item', map: 'item' }[origin];
  return unit === undefined ? `be ${limit} ${size}` : `have ${limit} ${size} ${unit}${size === 1 ? '' : 's'}`;
}

function sizeOf(origin: string, given: unknown): string {
  if (origin === 'string' && typeof given === 'string') return `; it has ${given.length}`;
  if (Array.isArray(given)) return `; it has ${given.length}`;
  return `; it is ${shown(given)}`;
}

/** More choices are left out of a sentence. */
const CHOICES_MAX = 8;

function listOf(choices: readonly string[]): string {
  if (choices.length > CHOICES_MAX) return `one of ${choices.slice(0, CHOICES_MAX).join(', ')}, …`;
  const last = choices.at(-1) ?? 'nothing';
  return choices.length < 2 ? last : `${choices.slice(0, -1).join(', ')} or ${last}`;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return Number.isFinite(value) ? `${value}` : 'a number without a JSON form';
  return typeof value === 'object' && isPlainObject(value) ? 'an object' : `a ${typeof value}`;
}

/** As much of a value as fits into a sentence. */
const SHOWN_MAX = 60;

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(cut(value));
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value);
  return typeOf(value);
}

function cut(text: string): string {
  const clean = text.toWellFormed();
  return clean.length > SHOWN_MAX ? `${clean.slice(0, SHOWN_MAX).toWellFormed()}…` : clean;
}

function fieldName(path: readonly PropertyKey[]): string {
  return path.reduce<string>((whole, part) => {
    if (typeof part === 'number') return `${whole}[${part}]`;
    return whole === '' ? cut(String(part)) : `${whole}.${cut(String(part))}`;
  }, '');
}

function valueAt(root: unknown, path: readonly PropertyKey[]): unknown {
  let value = root;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Readonly<Record<PropertyKey, unknown>>)[part];
  }
  return value;
}
