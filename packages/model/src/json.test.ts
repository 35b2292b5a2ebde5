import vm from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyString, plainData, plainObject } from '../test/arbitraries.ts';
import { refusal } from '../test/refusal.ts';
import { JSON_MAX_DEPTH, json, jsonObject, plainDataFault, text } from './json.ts';

const nested = (depth: number): unknown => JSON.parse('['.repeat(depth) + ']'.repeat(depth));

class Point {
  readonly x = 1;
}

const cycle: { self?: unknown } = {};
cycle.self = cycle;

const notPlain: readonly (readonly [name: string, value: unknown])[] = [
  ['undefined', undefined],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['a bigint', 1n],
  ['a symbol', Symbol('s')],
  ['a function', () => 1],
  ['a date', new Date(0)],
  ['a map', new Map([['a', 1]])],
  ['bytes', Uint8Array.of(1)],
  ['a boxed number', Object(1)],
  ['an instance', new Point()],
  ['a high surrogate alone', '\ud83d'],
  ['a low surrogate alone', 'x\ude00'],
  ['a hole', new Array(1)],
  ['a cycle', cycle],
  ['an endless nesting', nested(100_000)],
];

describe('plain data', () => {
  it('[M7] is accepted and given back as it is', () => {
    fc.assert(
      fc.property(plainData, value => {
        expect(json.parse(value)).toBe(value);
      }),
    );
  });

  it.each(notPlain)('[M7] is not %s, alone or inside', (_, value) => {
    const faults = [value, [value], { member: [value] }].map(plain => [plainDataFault(plain), refusal(json, plain)]);
    expect(faults).toEqual(Array(3).fill([expect.any(String), [': custom']]));
  });

  it('[M7] has no lone surrogate in a key', () => {
    expect(refusal(json, { '\ud800': 1 })).toEqual([': custom']);
  });

  it('[M7] nests to its limit and no further', () => {
    expect([nested(JSON_MAX_DEPTH), nested(JSON_MAX_DEPTH + 1)].map(value => refusal(json, value))).toEqual([
      [],
      [': custom'],
    ]);
    expect(JSON.stringify(nested(JSON_MAX_DEPTH))).toHaveLength(2 * JSON_MAX_DEPTH);
  });

  it('[M7] may come from another realm or have no prototype', () => {
    const bare = Object.assign(Object.create(null), { a: 1 });
    expect([vm.runInNewContext('({ a: [1, { b: null }] })'), bare].map(value => refusal(json, value))).toEqual([
      [],
      [],
    ]);
  });

  it('[M7] says why a value is none', () => {
    expect(json.safeParse({ a: Number.NaN }).error?.issues).toEqual([
      { code: 'custom', path: [], message: 'NaN is not a JSON number' },
    ]);
  });

  it('[M8] keeps a key whatever its name', () => {
    const value = JSON.parse('{"__proto__":{"a":1},"constructor":2,"toJSON":3}');
    expect(JSON.stringify(jsonObject.parse(value))).toBe('{"__proto__":{"a":1},"constructor":2,"toJSON":3}');
  });

  it('[M8] counts an undefined member as absent', () => {
    expect(refusal(json, { a: undefined, b: [{ c: undefined }] })).toEqual([]);
  });
});

describe('free-form objects', () => {
  it('[M7] are objects of plain data', () => {
    fc.assert(
      fc.property(plainObject, value => {
        expect(jsonObject.parse(value)).toBe(value);
      }),
    );
  });

  it.each([null, [], 'text', 1, true, undefined, { a: Number.NaN }, new Date(0)])('[M7] %o is none', value => {
    expect(refusal(jsonObject, value)).toEqual([': custom']);
  });
});

describe('text', () => {
  it('[M28] is a string that has a UTF-8 form', () => {
    fc.assert(
      fc.property(anyString, value => {
        const survives = Buffer.from(value, 'utf8').toString('utf8') === value;
        expect(text.safeParse(value).success).toBe(survives);
      }),
    );
  });
});
