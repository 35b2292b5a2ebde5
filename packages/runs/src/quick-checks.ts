import { json } from '@signalbox/model';

/**
 * Checks that take a fraction of the time of a schema. True means that the schema would accept the value and leave it unchanged; false means
 * unknown, and the schema decides. Tests compare them with the schemas.
 */
export type Is = (value: unknown) => boolean;

export const isText: Is = value => typeof value === 'string' && value.isWellFormed();
export const isCount: Is = value => Number.isSafeInteger(value) && (value as number) >= 0;
export const isPositive: Is = value => isCount(value) && value !== 0;
export const isBoolean: Is = value => typeof value === 'boolean';
const matches =
  (pattern: RegExp): Is =>
  value =>
    typeof value === 'string' && pattern.test(value);
export const hasLength =
  (least: number, most = Number.POSITIVE_INFINITY): Is =>
  value =>
    isText(value) && (value as string).length >= least && (value as string).length <= most;
export const is =
  (literal: unknown): Is =>
  value =>
    value === literal;

export const isUuid = matches(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
export const isDigest = matches(/^sha256:[0-9a-f]{64}$/);
export const isOwner = hasLength(1, 128);
export const isName = hasLength(1);

/** As `Date` writes it. Other time formats are left to the schema. */
export const isTime: Is = value => {
  if (typeof value !== 'string' || value.length !== ISO_LENGTH) return false;
  if (knownTimes.has(value)) return true;
  const ms = Date.parse(value);
  if (Number.isNaN(ms) || new Date(ms).toISOString() !== value) return false;
  if (knownTimes.size >= MAX_TIMES) knownTimes.clear();
  knownTimes.add(value);
  return true;
};
const ISO_LENGTH = '2026-01-01T00:00:00.000Z'.length;
/** A commit repeats the same times, and so does the next one. */
const knownTimes = new Set<string>();
const MAX_TIMES = 64;

export function oneOf(options: readonly string[]): Is {
  const known = new Set<unknown>(options);
  return value => known.has(value);
}

export function listOf(isItem: Is): Is {
  return value => {
    if (!Array.isArray(value)) return false;
    // Not `every`, which skips holes.
    for (const item of value) if (!isItem(item)) return false;
    return true;
  };
}

/** An object literal with exactly these members; optional ones are absent, not undefined. */
export function record(required: Readonly<Record<string, Is>>, optional: Readonly<Record<string, Is>> = {}): Is {
  const members = new Map(Object.entries({ ...required, ...optional }));
  const needed = Object.keys(required);
  return value => {
    if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return false;
    for (const key in value) {
      if (members.get(key)?.((value as Record<string, unknown>)[key]) !== true) return false;
    }
    return needed.every(key => Object.hasOwn(value, key));
  };
}

/** Chooses by the value of one member. */
export function byMember(name: string, options: Readonly<Record<string, Is>>): Is {
  const known = new Map<unknown, Is>(Object.entries(options));
  return value =>
    typeof value === 'object' &&
    value !== null &&
    known.get((value as Record<string, unknown>)[name])?.(value) === true;
}

/** Deeper values are left to the schema. */
const MAX_DEPTH = 20;
export const isJson: Is = value => isPlain(value, 0);

function isPlain(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed();
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'object':
      return value === null || isPlainContainer(value, depth + 1);
    default:
      return false;
  }
}

function isPlainContainer(container: object, depth: number): boolean {
  if (depth > MAX_DEPTH) return json.safeParse(container).success;
  if (Array.isArray(container)) {
    for (const item of container) if (!isPlain(item, depth)) return false;
    return true;
  }
  if (Object.getPrototypeOf(container) !== Object.prototype) return false;
  for (const key in container) {
    if (!key.isWellFormed() || !isPlain((container as Record<string, unknown>)[key], depth)) return false;
  }
  return true;
}
