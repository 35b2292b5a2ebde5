import { canonicalJson } from '@signalbox/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalEvent } from './canonical-event.ts';

/** Plain data of every kind, with members that a platform treats in ways of its own. */
const json = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 6 },
    fc.string({ unit: 'grapheme' }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.integer(),
    fc.constantFrom(null, true, false, -0, undefined),
    fc.array(
      tie('value').map(item => item ?? null),
      { maxLength: 4 },
    ),
    tie('object'),
  ),
  object: fc.dictionary(
    fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('10', '9', 'toJSON', '', 'ü', 'z', 'Z')),
    tie('value'),
    { maxKeys: 6, noNullPrototype: true },
  ),
}));

describe('the canonical text of an event', () => {
  it('[L31] is that of its value, whatever the value', () => {
    fc.assert(
      fc.property(json.object, value => {
        expect(canonicalEvent(value as object)).toBe(canonicalJson(value));
      }),
      { numRuns: 2_000 },
    );
    const proto = JSON.parse('{"b":1,"__proto__":{"x":2},"a":[1,"2",null]}');
    expect(canonicalEvent(proto)).toBe(canonicalJson(proto));
  });

  it('[L31] refuses what is not plain data', () => {
    for (const bad of [{ a: Number.NaN }, { a: () => 1 }, { a: '\ud800' }, { a: new Date() }, { a: [1n] }]) {
      expect(() => canonicalEvent(bad)).toThrow('not plain data');
    }
  });
});
