import stringWidth from 'string-width';

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** The number of terminal columns a text takes. */
export function widthOf(text: string): number {
  return stringWidth(text, { countAnsiEscapeCodes: true });
}

/** The text, cut to at most `width` columns; a cut text ends in `…`. */
export function fitted(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  return width <= 0 ? '' : `${firstColumns(text, width - 1)}…`;
}

/** The beginning of the text that fits into `width` columns. */
function firstColumns(text: string, width: number): string {
  let taken = 0;
  let kept = '';
  for (const { segment } of graphemes.segment(text)) {
    taken += widthOf(segment);
    if (taken > width) break;
    kept += segment;
  }
  return kept;
}

/** The text in lines of at most `width` columns, broken at spaces where there are any. */
export function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/(?<= )/)) {
    if (widthOf(line + word.trimEnd()) <= width) {
      line += word;
      continue;
    }
    if (line !== '') lines.push(line.trimEnd());
    line = word;
    for (let part = ''; widthOf(line.trimEnd()) > width; line = line.slice(part.length)) {
      part = firstColumns(line, width);
      // Not even one character fits.
      if (part === '') break;
      lines.push(part);
    }
  }
  return [...lines, line.trimEnd()];
}
