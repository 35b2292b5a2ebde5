import type { News } from '@signalbox/client';
import { type RunId, type RunStatus, type RunSummary, runStatus } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { emptyList, isIn, toldList, views, withOlder } from './runs-list.ts';
import { treeRows } from './tree-rows.ts';
import { runStanding, span } from './words.ts';

const summary = (id: string, status: RunStatus = 'running', openDecisions = 0) =>
  ({ id: id as RunId, record: { status }, openDecisions }) as RunSummary;
const run = (given: RunSummary): News => ({ kind: 'run', run: given.id, summary: given });

describe('the list of runs', () => {
  it('[K2] is newest first, and a run is in it once', () => {
    const list = [
      { kind: 'runs', runs: [summary('b'), summary('a')] } as News,
      run(summary('c')),
      run(summary('a', 'completed')),
    ].reduce(toldList, emptyList);
    expect(list.runs).toEqual([summary('c'), summary('b'), summary('a', 'completed')]);
  });

  it('[K2] continues with older runs, each once', () => {
    const list = toldList(emptyList, { kind: 'runs', runs: [summary('d'), summary('c')], next: 'c' as RunId });
    expect(list.next).toBe('c');
    const more = withOlder(list, { runs: [summary('c'), summary('b')], next: 'b' as RunId });
    expect(more.runs?.map(({ id }) => id)).toEqual(['d', 'c', 'b']);
    expect(withOlder(more, { runs: [summary('a')] })).toEqual({
      link: list.link,
      runs: [summary('d'), summary('c'), summary('b'), summary('a')],
    });
  });

  it('[K2] has every run in one view besides the view of all', () => {
    for (const status of runStatus.options) {
      expect(views.filter(view => view !== 'all' && isIn(view, summary('a', status)))).toHaveLength(1);
    }
    expect(isIn('waiting', summary('a', 'running', 1))).toBe(true);
  });

  it('[K2] shows the status of a run in one word', () => {
    const words = runStatus.options.map(status => runStanding(summary('a', status)).word);
    expect(new Set(words).size).toBe(words.length);
    expect(runStanding(summary('a', 'running', 1))).toEqual({ signal: 'waiting', word: 'working, needs you' });
  });
});

it('[K2] times have useful units', () => {
  expect([0, 59_999, 61_000, 3_600_000, 172_800_000, -5].map(span)).toEqual([
    '0 s',
    '59 s',
    '1 min 1 s',
    '1 h 0 min',
    '2 days',
    '0 s',
  ]);
});

it('[K3] a tree is shown in the order of its plan, without the children of closed nodes', () => {
  const node = (id: string, parent: string | undefined, index: number) => ({ id, parent, index }) as never;
  const nodes = [node('b', 'root', 1), node('root', undefined, 0), node('a', 'root', 0), node('b1', 'b', 0)];
  const shown = (closed: readonly string[]) =>
    treeRows(nodes, new Map(closed.map(id => [id, false]))).map(({ node: { id }, depth, hasChildren }) => [
      id,
      depth,
      hasChildren,
    ]);
  expect(shown([])).toEqual([
    ['root', 0, true],
    ['a', 1, false],
    ['b', 1, true],
    ['b1', 2, false],
  ]);
  expect(shown(['b'])).toEqual([
    ['root', 0, true],
    ['a', 1, false],
    ['b', 1, true],
  ]);
});
