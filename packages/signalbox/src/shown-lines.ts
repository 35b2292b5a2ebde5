import { shown } from './terminal.ts';

/** Text of many lines, made harmless line by line; tabs stay. */
export function shownLines(text: string): readonly string[] {
  return text.split('\n').map(line => line.split('\t').map(shown).join('\t'));
}
