import { expect, it } from 'vitest';
import { exactParts, exactText } from './exact-text.ts';

it('[K205] names characters that are not seen and change how a text looks', () => {
  expect(exactText('rm -rf \u202e/emoh\u202c x')).toBe('rm -rf [U+202E]/emoh[U+202C] x');
  expect(exactText('a\u200bb\u2066c\u0007')).toBe('a[U+200B]b[U+2066]c[U+0007]');
  expect(exactText('ok\u{e0072}\u{e006d}')).toBe('ok[U+E0072][U+E006D]');
  expect(exactParts('\u202ex')).toEqual([
    { text: 'U+202E', isHidden: true },
    { text: 'x', isHidden: false },
  ]);
});

it('[K205] leaves other texts as they are, in any script', () => {
  for (const text of ['', 'git status\n\tx', 'line\r\nline', 'שלום עולם', 'مرحبا', '👩‍💻 ❤️', 'naïve'])
    expect(exactText(text)).toBe(text);
});
