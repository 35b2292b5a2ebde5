import type { SecretFilter } from './secret-filter.ts';

/**
 * The beginning of a text, at most so many characters. A secret that is cut through is recognised by nobody: so secrets are
 * taken out first, and what may be the beginning of one at the end of the text is left out.
 */
export function cutFiltered(filter: Pick<SecretFilter, 'text' | 'settled'>, text: string, most: number): string {
  if (text.length <= most) return text;
  return filter
    .text(text.slice(0, filter.settled(text)))
    .slice(0, most)
    .toWellFormed();
}

/** The same where no filter is at hand: the text ends before a word that would be cut through. */
export function cutAtWord(text: string, most: number): string {
  if (text.length <= most) return text;
  return text
    .slice(0, most)
    .replace(/[^\s"',;{}()[\]]+$/, '')
    .toWellFormed();
}
