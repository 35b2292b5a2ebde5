import type { Json, JsonObject } from '@signalbox/model';
import type { ConditionExpression } from '../../src/compile/condition.ts';
import type { Shape } from '../../src/compile/shape.ts';
import type { ValidationExpression } from '../../src/compile/validation.ts';
import { conditionValue } from '../../src/interpret/condition-value.ts';
import { type PatternTree, parsePattern } from '../../src/interpret/pattern-syntax.ts';

/** Writes what a workflow asks for, from what it asks alone: a context, notes, a value of a shape. */

/** A context in which a condition has a value, changing no more of the given one than it must. */
export function contextFor(expression: ConditionExpression, wanted: boolean, context: JsonObject): JsonObject {
  const now = conditionValue(expression, [context], { missing: 'is_fault', effort: { steps: 1e6 } });
  if (now.ok && now.value === wanted) return context;
  switch (expression.kind) {
    case 'not':
      return contextFor(expression.of, !wanted, context);
    case 'and':
    case 'or': {
      const isAll = (expression.kind === 'and') === wanted;
      const parts = isAll ? expression.of : expression.of.slice(0, 1);
      return parts.reduce((before, part) => contextFor(part, wanted, before), context);
    }
    case 'compare': {
      const { key, operator, value = null } = expression;
      return { ...context, [key]: wanted ? fulfilling(operator, value) : failing(operator, value) };
    }
  }
}

type Operator = Extract<ConditionExpression, { kind: 'compare' }>['operator'];

function fulfilling(operator: Operator, value: Json): Json {
  const number = Number(value);
  switch (operator) {
    case 'truthy':
      return true;
    case 'equals':
    case 'gte':
    case 'lte':
    case 'startsWith':
    case 'endsWith':
    case 'contains':
      return value;
    case 'not_equals':
      return 'something else';
    case 'gt':
      return number + 1;
    case 'lt':
      return number - 1;
    case 'matches':
      return matching(String(value), 'i');
    case 'in':
      return Array.isArray(value) ? (value[0] ?? null) : null;
  }
}

function failing(operator: Operator, value: Json): Json {
  const number = Number(value);
  switch (operator) {
    case 'truthy':
      return false;
    case 'not_equals':
      return value;
    case 'gt':
    case 'gte':
      return number - 1;
    case 'lt':
    case 'lte':
      return number + 1;
    default:
      return '~ none of these ~';
  }
}

/** Notes that keep a validation, as long as its rules do not contradict each other. */
export function notesFor(validation: ValidationExpression | undefined): string {
  const { lines, json, min } = validation === undefined ? NOTHING : asked(validation);
  if (json !== undefined) return JSON.stringify(json);
  const text = [...lines, 'Did what the step asks, and looked at the result.'].join('\n');
  return text.padEnd(min, ' More was looked at, and is told.');
}

interface Asked {
  readonly lines: readonly string[];
  readonly json: Json | undefined;
  readonly min: number;
}

const NOTHING: Asked = { lines: [], json: undefined, min: 0 };

function asked(expression: ValidationExpression): Asked {
  switch (expression.kind) {
    case 'all': {
      const parts = expression.of.map(asked);
      return {
        lines: parts.flatMap(({ lines }) => lines),
        json: parts.find(({ json }) => json !== undefined)?.json,
        min: Math.max(0, ...parts.map(({ min }) => min)),
      };
    }
    case 'any':
      return expression.of[0] === undefined ? NOTHING : asked(expression.of[0]);
    case 'not':
      return NOTHING;
    case 'rule':
      switch (expression.test) {
        case 'contains':
          return { ...NOTHING, lines: [expression.value] };
        case 'regex':
          return { ...NOTHING, lines: [matching(expression.pattern, expression.flags)] };
        case 'length':
          return { ...NOTHING, min: expression.min ?? 0 };
        case 'schema':
          return { ...NOTHING, json: valueFor(expression.shape) };
      }
  }
}

/** A text that a pattern matches. What it looks around for is not written. */
function matching(pattern: string, flags: string): string {
  const tree = parsePattern(pattern, flags);
  if (!tree.ok) throw new Error(`${pattern}: ${tree.error.reason}`);
  return written(tree.value);
}

const CHARACTERS = [...Array.from({ length: 95 }, (_, code) => String.fromCharCode(126 - code)), '\n'];

function written(tree: PatternTree): string {
  switch (tree.kind) {
    case 'character': {
      const test = tree.test();
      const found = CHARACTERS.find(character => test.test(character));
      if (found === undefined) throw new Error(`no character for ${test.source}`);
      return found;
    }
    case 'sequence':
      return tree.parts.map(written).join('');
    case 'choice':
      return tree.parts[0] === undefined ? '' : written(tree.parts[0]);
    case 'repeat':
      return written(tree.part).repeat(tree.min);
    case 'assertion':
      return '';
  }
}

/** A value of a shape. */
function valueFor(shape: Shape): Json {
  switch (shape.type) {
    case 'any':
    case 'null':
      return null;
    case 'text':
      return 'text'.padEnd(shape.min ?? 0, ' and more').slice(0, shape.max);
    case 'number':
    case 'integer':
      return shape.min ?? Math.min(0, shape.max ?? 0);
    case 'boolean':
      return true;
    case 'one_of':
      return shape.values[0] ?? null;
    case 'list':
      return Array.from({ length: shape.min ?? 0 }, () => valueFor(shape.of));
    case 'map':
      return Object.fromEntries(Array.from({ length: shape.min ?? 0 }, (_, n) => [`key${n}`, valueFor(shape.of)]));
    case 'object':
      return Object.fromEntries(
        shape.fields.filter(field => field.required).map(field => [field.name, valueFor(field.shape)]),
      );
    case 'any_of':
      return shape.of[0] === undefined ? null : valueFor(shape.of[0]);
  }
}
