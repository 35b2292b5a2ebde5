const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** How many columns a text takes in a terminal. It has no control characters: `shown` has seen to that. */
export function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += widthOfGrapheme(segment);
  return width;
}

/** The text, cut so that it takes at most `width` columns; what was cut ends in `…`. */
export function fitted(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (width <= 0) return '';
  let taken = 0;
  let kept = '';
  for (const { segment } of graphemes.segment(text)) {
    taken += widthOfGrapheme(segment);
    if (taken > width - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

function widthOfGrapheme(grapheme: string): number {
  if (/^\p{Emoji_Presentation}|\ufe0f/u.test(grapheme)) return 2;
  const code = grapheme.codePointAt(0) ?? 0;
  if (/^\p{M}/u.test(grapheme)) return 0;
  return wide.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}

/** Blocks whose characters are two columns wide (East Asian Wide and Fullwidth). */
const wide: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1f64f],
  [0x1f900, 0x1f9ff],
  [0x20000, 0x3fffd],
];
