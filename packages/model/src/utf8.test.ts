import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyString } from '../test/arbitraries.ts';
import { Bug } from './bug.ts';
import { TRUNCATION_MARKER, truncateUtf8, utf8Bytes, utf8Length } from './utf8.ts';

const MARKER = '\n\n[TRUNCATED]';
const lengthOf = (text: string) => Buffer.byteLength(text, 'utf8');

/** Every prefix that ends between two characters, the empty one and the text itself included. */
function wholePrefixes(text: string): readonly string[] {
  let prefix = '';
  return ['', ...Array.from(text, character => (prefix += character))];
}

describe('UTF-8 length', () => {
  it("[M17] is the platform's, lone surrogates included", () => {
    fc.assert(
      fc.property(anyString, text => {
        expect([utf8Length(text), utf8Bytes(text).length]).toEqual([lengthOf(text), lengthOf(text)]);
      }),
    );
  });

  it('[M17] counts bytes, not characters', () => {
    expect(['', 'a', 'é', '€', '😀', '👩‍💻', '\ud83d', '\ude00', '\ude00\ud83d', '\u0000'].map(utf8Length)).toEqual([
      0, 1, 2, 3, 4, 11, 3, 3, 6, 1,
    ]);
  });
});

describe('truncation', () => {
  it('[M18] has the canonical marker', () => {
    expect(TRUNCATION_MARKER).toBe(MARKER);
  });

  it.each([
    ['a text that fits', 'a'.repeat(20), 20, 'a'.repeat(20)],
    ['one byte too many', 'a'.repeat(21), 20, `${'a'.repeat(7)}${MARKER}`],
    ['two bytes do not fit into one', `${'a'.repeat(6)}é${'z'.repeat(20)}`, 20, `aaaaaa${MARKER}`],
    ['two bytes fit into two', `${'a'.repeat(5)}é${'z'.repeat(20)}`, 20, `aaaaaé${MARKER}`],
    ['an astral character is not halved', `${'a'.repeat(4)}😀${'z'.repeat(20)}`, 20, `aaaa${MARKER}`],
    ['an astral character that just fits', `${'a'.repeat(3)}😀${'z'.repeat(20)}`, 20, `aaa😀${MARKER}`],
    ['no room but for the marker', 'a'.repeat(14), 13, MARKER],
    ['an empty text', '', 13, ''],
    ['a lone surrogate counts three', `\ud83d${'z'.repeat(30)}`, 16, `\ud83d${MARKER}`],
    ['a lone surrogate that does not fit', `\ud83d${'z'.repeat(30)}`, 15, MARKER],
  ])('[M18] %s', (_, text, budget, expected) => {
    expect(truncateUtf8(text, budget)).toBe(expected);
  });

  it('[M18] keeps the longest prefix of whole characters that the budget allows', () => {
    fc.assert(
      fc.property(anyString, fc.integer({ min: MARKER.length, max: 80 }), (text, budget) => {
        const longest = wholePrefixes(text)
          .filter(prefix => lengthOf(prefix) + MARKER.length <= budget)
          .at(-1);
        const expected = lengthOf(text) <= budget ? text : `${longest}${MARKER}`;
        expect(truncateUtf8(text, budget)).toBe(expected);
        expect(lengthOf(expected)).toBeLessThanOrEqual(budget);
      }),
    );
  });

  it('[M18] of a truncated text changes nothing', () => {
    fc.assert(
      fc.property(anyString, fc.integer({ min: MARKER.length, max: 80 }), (text, budget) => {
        const once = truncateUtf8(text, budget);
        expect(truncateUtf8(once, budget)).toBe(once);
      }),
    );
  });

  it.each([12, 0, -1])('[M19] a budget of %i bytes cannot hold the marker', budget => {
    expect(() => truncateUtf8('', budget)).toThrow(
      new Bug(`a budget of ${budget} bytes cannot hold the truncation marker`),
    );
  });
});
