import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { plainData } from '../test/arbitraries.ts';
import { vectors } from '../test/vectors.ts';
import { Bug } from './bug.ts';
import { canonicalJson, tryCanonicalJson } from './canonical-json.ts';
import type { Json } from './json.ts';

const double = (bits: string) => Buffer.from(bits, 'hex').readDoubleBE();

/** The same value with the keys of every object in another order. */
function reordered(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(reordered);
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, part]) => [key, reordered(part)]),
  );
}

describe('the RFC 8785 vectors', () => {
  it.each(vectors.canonicalJson.numbers)('[M9] Appendix B: $ieee754 is $text', ({ ieee754, text }) => {
    expect(canonicalJson(double(ieee754))).toBe(text);
  });

  it.each(vectors.canonicalJson.refusedNumbers)('[M9] Appendix B: %s is refused', ieee754 => {
    expect(tryCanonicalJson(double(ieee754)).ok).toBe(false);
  });

  it.each(vectors.canonicalJson.texts)('[M9] $name', ({ input, utf8 }) => {
    expect(Buffer.from(canonicalJson(JSON.parse(input)), 'utf8').toString('hex')).toBe(utf8);
  });

  it('[M9] the vectors are all there', () => {
    const { numbers, refusedNumbers, texts } = vectors.canonicalJson;
    expect([numbers.length, refusedNumbers.length, texts.length]).toEqual([24, 2, 2]);
  });
});

describe('canonical JSON', () => {
  it('[M10] does not depend on the order in which keys were made', () => {
    fc.assert(
      fc.property(plainData, value => {
        expect(canonicalJson(reordered(value))).toBe(canonicalJson(value));
      }),
    );
  });

  it('[M10] reads back as the value and is its own canonical text', () => {
    fc.assert(
      fc.property(plainData, value => {
        const canonical = canonicalJson(value);
        expect(JSON.parse(canonical)).toEqual(value);
        expect(canonicalJson(JSON.parse(canonical))).toBe(canonical);
      }),
    );
  });

  it('[M10] is one text for equal values and another for others', () => {
    fc.assert(
      fc.property(plainData, plainData, (left, right) => {
        const equal = JSON.stringify(sorted(left)) === JSON.stringify(sorted(right));
        expect(canonicalJson(left) === canonicalJson(right)).toBe(equal);
      }),
    );
  });

  it('[M10] gives every finite number the shortest text that reads back as it', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), number => {
        expect(JSON.parse(canonicalJson(number))).toBe(number + 0);
      }),
    );
  });

  it('[M10] gives one text to the spellings of one number', () => {
    const spellings = ['[0, 1, 100, 1e21, 0.1]', '[-0, 1.0, 1e2, 1000000000000000000000, 1e-1]'];
    expect(spellings.map(spelling => canonicalJson(JSON.parse(spelling)))).toEqual(
      Array(2).fill('[0,1,100,1e+21,0.1]'),
    );
  });

  it('[M10] has no space, sorts at every depth and keeps the order of arrays', () => {
    expect(canonicalJson({ b: [3, { d: 1, c: 2 }, 1], a: {}, '': [] })).toBe('{"":[],"a":{},"b":[3,{"c":2,"d":1},1]}');
  });

  it('[M8] leaves out undefined members and keeps every key', () => {
    expect(canonicalJson({ b: undefined, a: JSON.parse('{"__proto__":{"z":1},"toJSON":0}') })).toBe(
      '{"a":{"__proto__":{"z":1},"toJSON":0}}',
    );
  });

  it('[M11] is refused for what is not plain data, as a value and as a bug', () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    const outcomes = [
      Number.NaN,
      undefined,
      1n,
      { a: [() => 1] },
      [undefined],
      { at: new Date(0) },
      '\ud800',
      cycle,
    ].map(value => {
      const outcome = tryCanonicalJson(value);
      expect(() => canonicalJson(value)).toThrow(Bug);
      return outcome;
    });
    const refused = (reason: string) => ({ ok: false, error: { code: 'not_json', reason } });
    expect(outcomes).toEqual([
      refused('NaN is not a JSON number'),
      refused('undefined has no JSON form'),
      refused('bigint has no JSON form'),
      refused('function has no JSON form'),
      refused('undefined has no JSON form'),
      refused('an instance of a class is not plain data'),
      refused('a string has a lone surrogate'),
      refused('nested deeper than 500 levels, or without end'),
    ]);
  });

  it('[M11] never throws for a value from outside', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withDate: true, withMap: true, withTypedArray: true }), value => {
        const outcome = tryCanonicalJson(value);
        if (outcome.ok) expect(canonicalJson(JSON.parse(outcome.value))).toBe(outcome.value);
        else expect(outcome).toEqual({ ok: false, error: { code: 'not_json', reason: expect.any(String) } });
      }),
    );
  });
});

/** Objects as lists of entries, so that equal values have equal `JSON.stringify` texts. */
function sorted(value: Json): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return {
    entries: Object.entries(value)
      .map(([key, part]) => [key, sorted(part)])
      .sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
  };
}
