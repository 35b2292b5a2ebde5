/**
 * A parser's message without its quotes from the file, punctuation aside. An error must not reveal the content of a file that is not a
 * plan; its author finds the place by line and column.
 */
export function unquoted(message: string): string {
  // These names come from an import statement, so the file is code.
  if (message.includes('does not provide an export named')) return message;
  const kept: string[] = [];
  const marked = message.replaceAll('\0', '').replace(PUNCTUATION, quote => `\0${kept.push(quote) - 1}\0`);
  const first = marked.search(QUOTE);
  const restored = (text: string) => text.replace(/\0(\d+)\0/g, (_, index) => kept[Number(index)] ?? '');
  if (first < 0) return restored(marked);
  const last = Math.max(...['"', "'", '`'].map(quote => marked.lastIndexOf(quote)));
  return restored(`${marked.slice(0, first)}"…"${last === first ? '' : marked.slice(last + 1)}`);
}

const QUOTE = /["'`]/;
const PUNCTUATION = /(["'`])[^\p{L}\p{N}_"'`]{1,3}\1/gu;
