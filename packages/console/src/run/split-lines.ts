import type { PatchLine } from './patch-files.ts';

/** A line of a change with both sides next to each other; a side that has no line is undefined. */
export interface SplitLine {
  readonly kind: 'place' | 'same' | 'changed';
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** Pairs removed lines with the added ones that follow them. */
export function splitLines(lines: readonly PatchLine[]): readonly SplitLine[] {
  const rows: SplitLine[] = [];
  let removed: string[] = [];
  let added: string[] = [];
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at += 1) {
      rows.push({ kind: 'changed', before: removed[at], after: added[at] });
    }
    removed = [];
    added = [];
  };
  for (const { kind, text } of lines) {
    if (kind === 'removed') {
      if (added.length > 0) flush();
      removed.push(text.slice(1));
    } else if (kind === 'added') added.push(text.slice(1));
    else {
      flush();
      const line = kind === 'place' || text.startsWith('\\') ? text : text.slice(1);
      rows.push({ kind: kind === 'place' ? 'place' : 'same', before: line, after: line });
    }
  }
  flush();
  return rows;
}
