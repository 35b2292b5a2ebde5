import { diff } from '@codemirror/merge';
import type { PatchLine } from './patch-files.ts';

const AROUND = 3;

/** The lines that differ between two texts, with a few around them, as a patch shows them. */
export function changedLines(before: string, after: string): readonly PatchLine[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  const lines: PatchLine[] = [];
  const put = (kind: PatchLine['kind'], sign: string, from: readonly string[]) => {
    for (const text of from) lines.push({ kind, text: `${sign}${text}` });
  };
  const changes = differing(a, b);
  /** The first line of `a` that is not shown yet. */
  let next = 0;
  for (const [index, { fromA, toA, fromB, toB }] of changes.entries()) {
    const from = Math.max(next, fromA - AROUND);
    if (a.length > 0 && (from > next || index === 0)) lines.push({ kind: 'place', text: `@@ line ${from + 1} @@` });
    put('same', ' ', a.slice(from, fromA));
    put('removed', '-', a.slice(fromA, toA));
    put('added', '+', b.slice(fromB, toB));
    next = Math.min(toA + AROUND, changes[index + 1]?.fromA ?? a.length);
    put('same', ' ', a.slice(toA, next));
  }
  return lines;
}

/** Lines of one text that others take the place of. */
interface Ranges {
  readonly fromA: number;
  readonly toA: number;
  readonly fromB: number;
  readonly toB: number;
}

/** Compares lines by giving each different one a character of its own. */
function differing(a: readonly string[], b: readonly string[]): readonly Ranges[] {
  const characters = new Map<string, string>();
  for (const line of [...a, ...b]) {
    if (characters.has(line)) continue;
    const code = characters.size < SURROGATES ? characters.size : characters.size + SURROGATES_COUNT;
    if (code > LAST) return [{ fromA: 0, toA: a.length, fromB: 0, toB: b.length }];
    characters.set(line, String.fromCharCode(code));
  }
  const coded = (lines: readonly string[]) => lines.map(line => characters.get(line)).join('');
  return diff(coded(a), coded(b), { scanLimit: 500, timeout: 200 });
}

/** These are halves of characters. */
const [SURROGATES, SURROGATES_COUNT, LAST] = [0xd800, 0x800, 0xffff];

/** A last line feed ends the last line; it begins no other. */
function linesOf(text: string): readonly string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}
