import { describe, expect, it } from 'vitest';
import { createOpenTurns, overlapWords, type TurnOnLayer } from './open-turns.ts';

/** A turn on a layer with these paths, of which some only look changed. */
function turn(
  node: string,
  written: readonly string[],
  more: Partial<TurnOnLayer> & { same?: readonly string[] } = {},
) {
  const { same = [], ...rest } = more;
  return {
    ...{ run: 'run', task: `task-${node}`, node, title: node.toUpperCase(), root: '/work' },
    written: () => written,
    isChanged: (path: string) => !same.includes(path),
    ...rest,
  } as TurnOnLayer;
}

describe('turns that are open at the same time', () => {
  it('[B152] finds the paths that both changed, once, when the second one looks', () => {
    const turns = createOpenTurns();
    const paths: string[] = ['a.txt'];
    const one = turns.begin(turn('one', ['a.txt', 'b.txt', 'only-looks']));
    const two = turns.begin(turn('two', paths, { same: ['only-looks'] }));
    expect(two.look()).toEqual([{ path: 'a.txt', node: 'one', title: 'ONE' }]);
    expect(two.look()).toEqual([]);
    paths.push('b.txt', 'only-looks', 'c.txt');
    expect(two.look()).toEqual([{ path: 'b.txt', node: 'one', title: 'ONE' }]);
    expect(two.found().map(({ path }) => path)).toEqual(['a.txt', 'b.txt']);
    two.over();
    expect(one.look()).toEqual([]);
  });

  it('[B152] finds what is below a directory that the other made or removed, and in a nested root', () => {
    const turns = createOpenTurns();
    turns.begin(turn('one', ['src/new', 'docs/a/b.md']));
    expect(turns.begin(turn('two', ['src/new/file.ts', 'docs/a', 'src/newer'])).look()).toEqual([
      { path: 'src/new/file.ts', node: 'one', title: 'ONE' },
      { path: 'docs/a', node: 'one', title: 'ONE' },
    ]);
    const nested = turns.begin(turn('three', ['b.md'], { root: '/work/docs/a' }));
    expect(nested.look().map(({ path, node }) => [path, node])).toEqual([
      ['b.md', 'one'],
      ['b.md', 'two'],
    ]);
    expect(turns.begin(turn('four', ['b.md'], { root: '/workshop' })).look()).toEqual([]);
  });

  it('[B152] does not look at agents that are compared with each other', () => {
    const turns = createOpenTurns();
    turns.begin(turn('one', ['a.txt'], { apply: 'hold' }));
    expect(turns.begin(turn('two', ['a.txt'], { apply: 'hold' })).look()).toEqual([]);
    expect(turns.begin(turn('three', ['a.txt'])).look()).toHaveLength(2);
  });

  it('[B152] says them in a sentence for each node', () => {
    const overlap = (path: string, node: string) => ({ path, node, title: 'Codex' });
    expect(overlapWords([overlap('a', 'x'), overlap('b', 'y'), overlap('c', 'x')])).toEqual([
      'a, c: node x (Codex) has changed them too, and its changes are not applied yet. Whichever is applied second waits for a person.',
      'b: node y (Codex) has changed it too, and its changes are not applied yet. Whichever is applied second waits for a person.',
    ]);
    const many = overlapWords(['1', '2', '3', '4', '5', '6', '7'].map(path => overlap(path, 'x')));
    expect(many[0]).toContain('1, 2, 3, 4, 5 and 2 more: node x');
  });
});
