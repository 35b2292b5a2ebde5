/** Quotes words for a shell. */
export function quoted(words: readonly string[]): string {
  return words.map(word => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
}
