import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fitted, widthOf } from './text-width.ts';

it.each([
  ['', 0],
  ['abc', 3],
  ['日本語', 6],
  ['🙂', 2],
  ['👩‍👩‍👧', 2],
  ['e\u0301', 1],
  ['❤️', 2],
  ['ｆｕｌｌ', 8],
  ['⠋ ✓ …', 5],
])('%j takes %d columns', (text, width) => {
  expect(widthOf(text)).toBe(width);
});

it('a text that fits stays, one that does not is cut to the width', () => {
  expect([fitted('abc', 3), fitted('abcd', 3), fitted('日本', 3), fitted('ab', 0)]).toEqual(['abc', 'ab…', '日…', '']);
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, width) => {
      const cut = fitted(text, width);
      expect(widthOf(cut)).toBeLessThanOrEqual(width);
      if (widthOf(text) <= width) expect(cut).toBe(text);
    }),
  );
});
