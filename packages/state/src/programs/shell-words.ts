/** Words that a shell reads as they are. */
export function quoted(words: readonly string[]): string {
  return words.map(word => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
}
