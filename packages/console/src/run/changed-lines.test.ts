import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedLines } from './changed-lines.ts';

const textOf = (before: string, after: string) => changedLines(before, after).map(({ text }) => text);
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index + 1}`);

describe('the changed lines of a text', () => {
  it('[K98] have the lines around them, and leave out the rest', () => {
    const before = numbered(20);
    const after = before.with(9, 'changed').toSpliced(18, 1);
    expect(textOf(`${before.join('\n')}\n`, `${after.join('\n')}\n`)).toEqual([
      '@@ line 7 @@',
      ...[' line 7', ' line 8', ' line 9', '-line 10', '+changed', ' line 11', ' line 12', ' line 13'],
      '@@ line 16 @@',
      ...[' line 16', ' line 17', ' line 18', '-line 19', ' line 20'],
    ]);
  });

  it('[K98] of a new file are all of it', () => {
    expect(textOf('', 'a\nb\n')).toEqual(['+a', '+b']);
  });

  it('[K98] are none if nothing changed', () => {
    expect(textOf('a\nb', 'a\nb')).toEqual([]);
  });

  it('[K98] lead from one text to the other', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(text, text, (before, after) => {
        const lines = changedLines(`${before.join('\n')}\n`, `${after.join('\n')}\n`);
        const shown: string[] = [];
        let next = 0;
        for (const { kind, text: line } of lines) {
          if (kind === 'place') {
            const from = Number(/\d+/.exec(line)?.[0]) - 1;
            shown.push(...before.slice(next, from));
            next = from;
          }
          if (kind === 'same' || kind === 'added') shown.push(line.slice(1));
          if (kind === 'same' || kind === 'removed') expect(line.slice(1)).toBe(before[next++]);
        }
        expect([...shown, ...before.slice(next)]).toEqual(after);
      }),
    );
  });

  it('[K98] of very many lines are all of them', () => {
    const many = (mark: string) => Array.from({ length: 40_000 }, (_, index) => `${mark}${index}`).join('\n');
    expect(changedLines(many('a'), many('b'))).toHaveLength(80_001);
  });
});
