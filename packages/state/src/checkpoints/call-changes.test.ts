import type { Digest } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import type { DirectoryNode, TreeNode } from '../filesystem/tree.ts';
import { changesBetween, joinedChanges, treeBefore } from './call-changes.ts';

const owner = { uid: 1, gid: 1 };
const file = (text: string): TreeNode => ({
  kind: 'file',
  mode: 0o644,
  ...owner,
  size: text.length,
  digest: text as Digest,
});
const unread = (size: number, ino: number): TreeNode => ({
  ...{ kind: 'file', mode: 0o644, ...owner, size, digest: null },
  stamp: { ino, mtimeMs: 1, ctimeMs: 0, fresh: false },
});
const directory = (entries: Record<string, TreeNode>, mode = 0o755): DirectoryNode => ({
  ...{ kind: 'directory', mode, ...owner, entries: new Map(Object.entries(entries)) },
});

describe('what calls did to files', () => {
  it('[S80] is told path by path, directories by themselves', () => {
    const before = directory({ a: file('1'), d: directory({ x: file('x') }) });
    const after = directory({ b: file('2'), d: directory({ x: file('y') }, 0o700) });
    expect([...changesBetween(before, after).keys()].sort()).toEqual(['a', 'b', 'd', 'd/x']);
  });

  it('[S80] one after the other is from the first before to the last after', () => {
    const [one, two, three] = [
      directory({ a: file('1') }),
      directory({ a: file('2'), b: file('b') }),
      directory({ a: file('1') }),
    ];
    const { changes, conflicts } = joinedChanges([changesBetween(one, two), changesBetween(two, three)]);
    expect([[...changes], conflicts]).toEqual([[], []]);
  });

  it('[S80] [S54] with somebody else in between is a conflict there', () => {
    const calls = [
      changesBetween(directory({ a: file('1') }), directory({ a: file('2') })),
      changesBetween(directory({ a: file('mine') }), directory({ a: file('3') })),
    ];
    expect(joinedChanges(calls).conflicts).toEqual(['a']);
  });

  it('[S80] a file that was not read counts as the one that was found later, if it has its size', () => {
    const calls = (later: TreeNode) => [
      changesBetween(directory({}), directory({ m: unread(1, 7) })),
      changesBetween(directory({ m: later }), directory({})),
    ];
    expect(joinedChanges(calls(file('1'))).conflicts).toEqual([]);
    expect(joinedChanges(calls(file('longer'))).conflicts).toEqual(['m']);
  });

  it('[S80] is taken out of a tree, whatever became of those paths since', () => {
    const before = directory({ a: file('1'), d: directory({ x: file('x') }) });
    const after = directory({ d: file('now a file'), n: directory({ y: file('y') }) });
    const now = directory({ d: file('other'), n: directory({ y: file('y') }), mine: file('mine') });
    expect(treeBefore(now, changesBetween(before, after))).toEqual(
      directory({ a: file('1'), d: directory({ x: file('x') }), mine: file('mine') }),
    );
  });
});
