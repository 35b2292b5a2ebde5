import { describe, expect, it } from 'vitest';
import { changedLines } from './changed-lines.ts';
import { splitLines } from './split-lines.ts';

describe('a change side by side', () => {
  it('[K150] pairs removed lines with the added ones, and leaves a gap where a side has none', () => {
    const rows = splitLines(changedLines('a\nold\nolder\nz\n', 'a\nnew\nz\nmore\n'));
    expect(rows.filter(({ kind }) => kind !== 'place')).toEqual([
      { kind: 'same', before: 'a', after: 'a' },
      { kind: 'changed', before: 'old', after: 'new' },
      { kind: 'changed', before: 'older', after: undefined },
      { kind: 'same', before: 'z', after: 'z' },
      { kind: 'changed', before: undefined, after: 'more' },
    ]);
  });
});
