import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutAtWord, cutFiltered } from './cut-text.ts';
import { knownSecretOf } from './known-secret.ts';
import { createSecretFilter } from './secret-filter.ts';

const mac = (text: string) =>
  [...text]
    .reduce((sum, one) => (sum * 31 + one.charCodeAt(0)) % 2 ** 32, 7)
    .toString(16)
    .padStart(64, '0');
const SECRET = 'a-secret+of"someone/1234567890';
const filter = createSecretFilter({ known: [knownSecretOf('SOME_TOKEN', SECRET, mac)], mac });

/** The longest beginning of the secret that a text ends with, or holds. */
const shownOf = (text: string) => {
  for (let length = SECRET.length; length >= 8; length--) if (text.includes(SECRET.slice(0, length))) return length;
  return 0;
};

describe('a text that is cut', () => {
  it('[S204] shows no part of a secret, wherever it is cut', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 1, max: 200 }), (before, most) => {
        const text = `${'x '.repeat(before)}${SECRET} and more of it`;
        const cut = cutFiltered(filter, text, most);
        expect(shownOf(text.length > most ? cut : '')).toBe(0);
        expect(cut.length).toBeLessThanOrEqual(Math.max(most, text.length > most ? 0 : text.length));
      }),
    );
    // A text that ends within a secret.
    expect(cutFiltered(filter, `${'x '.repeat(50)}${SECRET.slice(0, 20)}`, 110)).toBe('x '.repeat(50));
    expect(cutFiltered(filter, 'short', 10)).toBe('short');
  });

  it('[S204] ends before the word that it would cut through, where no filter is at hand', () => {
    const token = 'sk-abcdefghijklmnopqrstuvwxyz';
    for (let most = 7; most < 36; most++)
      expect(cutAtWord(`a key: ${token}`, most)).toBe(most < 7 ? 'a key: ' : cutAtWord('a key: ', most));
    expect(cutAtWord(`a key: ${token}`, 36)).toBe(`a key: ${token}`);
  });
});
