import type { Json } from '@signalbox/model';
import { parsePattern } from '../interpret/pattern-syntax.ts';
import { CONDITION_OPERATORS, type ConditionExpression, type ConditionOperator } from './condition.ts';
import type { ProblemList } from './problem.ts';
import type { SourceCondition } from './source-format.ts';

/** The location of a source value: a pointer into the compiled file. */
export type Place = (container: object, key?: string | number) => string;

const OPERATORS = CONDITION_OPERATORS.filter(operator => operator !== 'truthy');

/** A condition of a source as a typed expression; several operators on one key must all hold. */
export function compileCondition(source: SourceCondition, place: Place, problems: ProblemList): ConditionExpression {
  const forms = ['var', 'and', 'or', 'not'].filter(form => source[form] !== undefined);
  if (forms.length !== 1) {
    const given = forms.length === 0 ? 'none' : forms.join(' and ');
    problems.add(
      'condition_invalid',
      place(source),
      `A condition has exactly one of "var", "and", "or" and "not"; this one has ${given}.`,
      'Name one context key in "var", or combine conditions in a list under "and" or "or".',
    );
  }
  if (source.var !== undefined) return comparison(source, source.var, place, problems);
  for (const operator of OPERATORS) {
    if (source[operator] === undefined) continue;
    const message = `"${operator}" compares a context key, and the condition names none.`;
    problems.add('condition_invalid', place(source, operator), message, 'Add "var" with the name of the key.');
  }
  if (source.not !== undefined) return { kind: 'not', of: compileCondition(source.not, place, problems) };
  const kind = source.or === undefined ? 'and' : 'or';
  const parts = source[kind] ?? [];
  if (source[kind] !== undefined && parts.length === 0) {
    problems.add('condition_invalid', place(source, kind), `"${kind}" has no conditions.`, 'Add one, or remove it.');
  }
  return { kind, of: parts.map(part => compileCondition(part, place, problems)) };
}

function comparison(source: SourceCondition, key: string, place: Place, problems: ProblemList): ConditionExpression {
  const compare = (operator: ConditionOperator): ConditionExpression => ({
    kind: 'compare',
    key,
    operator,
    value: source[operator] as Json,
  });
  const operators = OPERATORS.filter(operator => source[operator] !== undefined);
  if (typeof source.matches === 'string') checkPattern(source.matches, '', place(source, 'matches'), problems);
  const [first] = operators;
  if (first === undefined) return { kind: 'compare', key, operator: 'truthy' };
  return operators.length === 1 ? compare(first) : { kind: 'and', of: operators.map(compare) };
}

/** A pattern from a file must be matchable in bounded time. */
export function checkPattern(pattern: string, flags: string, at: string, problems: ProblemList): void {
  const parsed = parsePattern(pattern, flags);
  if (parsed.ok) return;
  if (parsed.error.code === 'invalid') {
    problems.add('pattern_invalid', at, `The pattern cannot be read: ${parsed.error.reason}.`, 'Correct the pattern.');
    return;
  }
  problems.add(
    'pattern_unsupported',
    at,
    `The pattern cannot be matched in bounded time: ${parsed.error.reason}.`,
    'Write it without back references and with small counts.',
  );
}
