import { describe, expect, it } from 'vitest';
import { changedPaths } from './changed-paths.ts';

describe('paths that an undo or a rollback changes', () => {
  it('[A317] are relative to a directory that is named once, and say what becomes of them', () => {
    expect(changedPaths({ directory: '/work', paths: ['a.txt', 'src/new.ts'], removed: ['src/new.ts'] })).toEqual([
      '  in /work',
      '  brought back: a.txt',
      '  removed: src/new.ts',
    ]);
    expect(changedPaths({ directory: '/work', paths: [] })).toEqual([]);
  });
});
