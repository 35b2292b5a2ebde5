import type { Json } from '@signalbox/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ConditionExpression, ConditionOperator } from '../compile/condition.ts';
import { conditionValue } from './condition-value.ts';

const compare = (operator: ConditionOperator, value?: Json): ConditionExpression => ({
  kind: 'compare',
  key: 'k',
  operator,
  ...(value !== undefined && { value }),
});
const truth = (expression: ConditionExpression, k?: Json) => {
  const held = conditionValue(expression, [k === undefined ? {} : { k }]);
  return held.ok ? held.value : held.error.code;
};

describe('a comparison', () => {
  it.each<readonly [ConditionOperator, wanted: Json | undefined, holds: readonly Json[], not: readonly Json[]]>([
    ['truthy', undefined, [true, 'x', 1, [], {}], [false, '', 0, null]],
    ['equals', 'Large', ['large', ' LARGE '], ['larg', 3, null, ['Large']]],
    ['equals', 3, [3, '3', ' 3.0 '], ['x', '', 4, true]],
    ['equals', true, [true, 'yes', 'TRUE', '1'], [false, 'no', 'y', null]],
    ['equals', false, [false, 'no', 'False', '0'], [true, '', null]],
    ['equals', null, [null], ['', 0, false]],
    ['not_equals', 'a', ['b', null], ['A']],
    ['gt', 3, [4], [3, 2]],
    ['gte', 3, [3, 4], [2]],
    ['lt', 3, [2], [3, 4]],
    ['lte', 3, [3, 2], [4]],
    ['contains', 'Cat', ['concatenate', ['dog', 'cat']], ['dog', null, ['cats']]],
    ['startsWith', 'ab', ['ABc', 'ab'], ['cab', null]],
    ['endsWith', 'bc', ['aBC'], ['bcd']],
    ['matches', '^v\\d+$', ['V12', ' v1 ', 'v0'], ['v', null, 'xv1']],
    ['in', ['a', 2], ['A', '2', 2], ['b', null]],
  ])('[W149] by %s with %j is lenient about case, blanks and kind', (operator, wanted, holds, not) => {
    for (const k of holds) expect([k, truth(compare(operator, wanted), k)]).toEqual([k, true]);
    for (const k of not) expect([k, truth(compare(operator, wanted), k)]).toEqual([k, false]);
  });

  it.each<readonly [ConditionExpression, Json | undefined, string]>([
    [compare('gt', 3), 'x', 'not_comparable'],
    [compare('gt', 3), undefined, 'missing_key'],
    [compare('gt', 'x'), 4, 'not_comparable'],
    [compare('in', 'x'), 'x', 'not_comparable'],
    [compare('matches', '('), 'x', 'not_comparable'],
    [compare('matches', '(a)\\1'), 'aa', 'not_comparable'],
  ])('[W149] that cannot be made is a fault: %j', (expression, k, code) => {
    expect(truth(expression, k)).toBe(code);
    expect(truth({ kind: 'not', of: expression }, k)).toBe(code);
    expect(truth({ kind: 'and', of: [expression, compare('equals', 'no such')] }, k)).toBe(false);
    expect(truth({ kind: 'or', of: [expression, compare('not_equals', 'no such')] }, k)).toBe(true);
    expect(truth({ kind: 'and', of: [expression, compare('not_equals', 'no such')] }, k)).toBe(code);
  });

  it('[W149] reads own keys alone, the innermost layer first', () => {
    const held = (key: string) =>
      conditionValue({ kind: 'compare', key, operator: 'truthy' }, [{ a: false }, { a: true, b: true }]);
    expect([held('a'), held('b'), held('toString'), held('__proto__')].map(each => each.ok && each.value)).toEqual([
      false,
      true,
      false,
      false,
    ]);
  });

  it('[W149] of any value by any operator gives an answer or a fault', () => {
    const operators = ['truthy', 'equals', 'gt', 'contains', 'startsWith', 'matches', 'in'] as const;
    const plain = fc.jsonValue().map(value => JSON.parse(JSON.stringify(value)) as Json);
    fc.assert(
      fc.property(fc.constantFrom(...operators), plain, plain, (operator, wanted, k) => {
        expect([true, false, 'missing_key', 'not_comparable']).toContain(truth(compare(operator, wanted), k));
      }),
    );
  });
});
