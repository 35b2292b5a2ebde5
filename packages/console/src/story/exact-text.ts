/**
 * Characters that show nothing themselves: directions, zero widths, tags and controls. With them a command can look like another one.
 * Line breaks, tabs and the joiner inside emoji stay.
 */
const HIDDEN = /(?![\n\t\u200d])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** The text in parts: a hidden character is a part of its own, by its number. */
export function exactParts(text: string): readonly { readonly text: string; readonly isHidden: boolean }[] {
  const parts: { readonly text: string; readonly isHidden: boolean }[] = [];
  let from = 0;
  for (const { index, 0: char } of text.matchAll(HIDDEN)) {
    // A line that ends as on Windows looks as it is.
    if (char === '\r' && text[index + 1] === '\n') continue;
    if (index > from) parts.push({ text: text.slice(from, index), isHidden: false });
    parts.push({ text: `U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`, isHidden: true });
    from = index + char.length;
  }
  if (from < text.length || parts.length === 0) parts.push({ text: text.slice(from), isHidden: false });
  return parts;
}

/** The text with hidden characters by their numbers, for a line. */
export function exactText(text: string): string {
  return exactParts(text)
    .map(part => (part.isHidden ? `[${part.text}]` : part.text))
    .join('');
}
