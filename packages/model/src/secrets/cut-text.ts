import type { SecretFilter } from './secret-filter.ts';

/**
 * The beginning of a text, up to a number of characters. A truncated secret would not be recognised, so secrets are redacted
 * first, and a possible beginning of one at the end is dropped.
 */
export function cutFiltered(filter: Pick<SecretFilter, 'text' | 'settled'>, text: string, most: number): string {
  if (text.length <= most) return text;
  return filter
    .text(text.slice(0, filter.settled(text)))
    .slice(0, most)
    .toWellFormed();
}

/** The same without a filter: the text ends before a word that would be cut. */
export function cutAtWord(text: string, most: number): string {
  if (text.length <= most) return text;
  return text
    .slice(0, most)
    .replace(/[^\s"',;{}()[\]]+$/, '')
    .toWellFormed();
}
