import { shown } from './terminal.ts';

/** Multi-line text, made harmless line by line; tabs stay. */
export function shownLines(text: string): readonly string[] {
  return text.split('\n').map(line => line.split('\t').map(shown).join('\t'));
}
