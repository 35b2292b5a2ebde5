import { err, type Json, type JsonObject, ok, type Result, truncateUtf8 } from '@signalbox/model';
import type { ConditionExpression } from '../compile/condition.ts';
import { type Effort, PATTERN_MAX_STEPS, testPattern } from './pattern-match.ts';

/**
 * Whether a condition holds for a context. A condition that cannot be evaluated is a fault, never a silent false; but such a
 * part does not matter if the other parts decide the result.
 */
export function conditionValue(
  expression: ConditionExpression,
  context: ContextLayers,
  asking: Asking = { missing: 'is_null', effort: { steps: PATTERN_MAX_STEPS } },
): Result<boolean, ConditionFault> {
  switch (expression.kind) {
    case 'compare':
      return compare(expression, context, asking);
    case 'not': {
      const inner = conditionValue(expression.of, context, asking);
      return inner.ok ? ok(!inner.value) : inner;
    }
    case 'and':
      return settle(expression.of, context, asking, false);
    case 'or':
      return settle(expression.of, context, asking, true);
  }
}

/** A context as seen at some place: shadowing scopes first, the durable context last. */
export type ContextLayers = readonly JsonObject[];

export interface Asking {
  /** The meaning of a missing key: no value, as in most conditions, or a fault, as in loop conditions. */
  readonly missing: 'is_null' | 'is_fault';
  readonly effort: Effort;
}

export interface ConditionFault {
  readonly code: 'missing_key' | 'not_comparable';
  readonly key: string;
  readonly reason: string;
}

/** The value at an own key; null if there is none. */
export function contextValue(context: ContextLayers, key: string): Json {
  return context.find(layer => Object.hasOwn(layer, key))?.[key] ?? null;
}

/** A `decisive` part decides the result, wherever it is. */
function settle(
  parts: readonly ConditionExpression[],
  context: ContextLayers,
  asking: Asking,
  decisive: boolean,
): Result<boolean, ConditionFault> {
  let fault: Result<boolean, ConditionFault> | undefined;
  for (const part of parts) {
    const value = conditionValue(part, context, asking);
    if (!value.ok) fault ??= value;
    else if (value.value === decisive) return value;
  }
  return fault ?? ok(!decisive);
}

function compare(
  { key, operator, value: wanted = null }: Extract<ConditionExpression, { kind: 'compare' }>,
  context: ContextLayers,
  { missing, effort }: Asking,
): Result<boolean, ConditionFault> {
  const value = contextValue(context, key);
  const asksForNull = (operator === 'equals' || operator === 'not_equals') && wanted === null;
  if (value === null && missing === 'is_fault' && !asksForNull) {
    return err({ code: 'missing_key', key, reason: `the context has no ${key}` });
  }
  const fault = (reason: string) =>
    err({ code: value === null ? 'missing_key' : 'not_comparable', key, reason } as const);
  // Texts are read completely at every comparison, so their total cost is bounded.
  if (typeof value === 'string') effort.steps -= value.length >>> 4;
  if (effort.steps < 0) return fault(`comparing ${key} takes too long`);
  switch (operator) {
    case 'truthy':
      return ok(Boolean(value));
    case 'equals':
      return ok(lenientlyEqual(value, wanted));
    case 'not_equals':
      return ok(!lenientlyEqual(value, wanted));
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      if (typeof value !== 'number') return fault(`${operator} wants a number, and ${key} is ${described(value)}`);
      if (typeof wanted !== 'number')
        return fault(`${operator} compares ${key} with ${described(wanted)}, not a number`);
      return ok(inOrder(operator, value, wanted));
    case 'contains':
      if (isList(value)) return ok(value.some(item => lenientlyEqual(item, wanted)));
      return ok(folded(value).includes(folded(wanted)));
    case 'startsWith':
      return ok(folded(value).startsWith(folded(wanted)));
    case 'endsWith':
      return ok(folded(value).endsWith(folded(wanted)));
    case 'matches': {
      const found = testPattern({ source: plain(wanted), flags: 'i' }, plain(value).trim(), effort);
      return found.ok ? found : fault(`${key} cannot be matched: ${found.error.reason}`);
    }
    case 'in':
      if (!isList(wanted)) return fault(`in wants a list to look for ${key} in`);
      return ok(wanted.some(item => lenientlyEqual(value, item)));
  }
}

function inOrder(operator: 'gt' | 'gte' | 'lt' | 'lte', left: number, right: number): boolean {
  switch (operator) {
    case 'gt':
      return left > right;
    case 'gte':
      return left >= right;
    case 'lt':
      return left < right;
    case 'lte':
      return left <= right;
  }
}

const TRUE_WORDS = new Set(['true', 'yes', '1']);
const FALSE_WORDS = new Set(['false', 'no', '0']);

/** Agents write `"yes"`, `"3"` and `" Large"`: values that read the same are equal. Lists and objects are never equal. */
function lenientlyEqual(left: Json, right: Json): boolean {
  if (typeof left === 'string' && typeof right === 'string') return folded(left) === folded(right);
  if (typeof left === 'boolean' && typeof right === 'string') return wordsOf(left).has(folded(right));
  if (typeof left === 'string' && typeof right === 'boolean') return wordsOf(right).has(folded(left));
  if (typeof left === 'number' && typeof right === 'string') return right.trim() !== '' && Number(right) === left;
  if (typeof left === 'string' && typeof right === 'number') return left.trim() !== '' && Number(left) === right;
  return left === right;
}

const wordsOf = (value: boolean) => (value ? TRUE_WORDS : FALSE_WORDS);

const folded = (value: Json) => plain(value).trim().toLowerCase();

function plain(value: Json): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function described(value: Json): string {
  if (value === null) return 'missing';
  if (typeof value === 'object') return isList(value) ? 'a list' : 'an object';
  return truncateUtf8(JSON.stringify(value), 80);
}

export function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

export function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !isList(value);
}
