import type { RunSummary } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { facetsOf, isFound, projectFolder, projectOf, type RunsSearch, runsSearchOf } from './runs-search.ts';

const NOW = Date.parse('2026-03-10T12:00:00.000Z');
const run = (name: string, entry: string, createdAt: string, tags: readonly string[] = [], directory?: string) => {
  const record = { id: name, name, entry, createdAt, tags, status: 'completed', directory };
  return {
    id: name,
    kind: entry.startsWith('wr.') ? 'guided' : 'plan',
    openDecisions: 0,
    record,
  } as never as RunSummary;
};

const runs = [
  run('release', '/home/a/shop/.signalbox/plans/release.tsx', '2026-03-10T11:30:00.000Z', ['nightly', 'eu']),
  run('import', '/home/a/shop/import.tsx', '2026-03-09T23:59:59.000Z', ['eu']),
  run('report', 'C:\\work\\office\\report.tsx', '2026-03-01T00:00:00.000Z'),
  run('guided', 'wr.research', '2026-02-01T00:00:00.000Z'),
];
const found = (search: RunsSearch) => runs.filter(one => isFound(search, one, NOW)).map(({ id }) => id);

describe('the search among runs', () => {
  it('[K56] is by tag, plan, project or time', () => {
    expect(found({})).toEqual(['release', 'import', 'report', 'guided']);
    expect(found({ tag: 'eu' })).toEqual(['release', 'import']);
    expect(found({ plan: '/home/a/shop/import.tsx' })).toEqual(['import']);
    expect(found({ project: '/home/a/shop' })).toEqual(['release', 'import']);
    expect(found({ kind: 'guided' })).toEqual(['guided']);
    expect(found({ since: 'hour' })).toEqual(['release']);
    expect(found({ from: '2026-03-01', to: '2026-03-09' })).toEqual(['import', 'report']);
    expect(found({ tag: 'eu', to: '2026-03-09', q: 'imp' })).toEqual(['import']);
  });

  it('[K56] offers the values of the runs, each once', () => {
    expect(facetsOf(runs)).toEqual({
      tags: ['eu', 'nightly'],
      plans: [
        '/home/a/shop/.signalbox/plans/release.tsx',
        '/home/a/shop/import.tsx',
        'C:\\work\\office\\report.tsx',
        'wr.research',
      ],
      projects: ['/home/a/shop', 'C:\\work\\office'],
    });
    expect(runs.map(projectOf)).toEqual(['/home/a/shop', '/home/a/shop', 'C:\\work\\office', undefined]);
  });

  it('[K73] knows the project that a run was started for, wherever its plan is', () => {
    const of = (directory: string) => projectOf(run('x', '/home/a/plans/tidy.tsx', '2026-03-01', [], directory));
    expect(of('/home/a/shop')).toBe('/home/a/shop');
    expect(of('/home/a/shop/.signalbox/plans')).toBe('/home/a/shop');
    expect(projectFolder('C:\\work\\office\\.signalbox')).toBe('C:\\work\\office');
  });

  it('[K56] is read from an address, whose unknown parts are dropped', () => {
    const whole = { view: 'failed', q: 'x', tag: 't', plan: 'p', project: 'o', since: 'day', from: '2026-01-01' };
    expect(runsSearchOf(whole)).toEqual(whole);
    expect(runsSearchOf({ view: 'all', q: '', tag: {}, since: 'year', from: 'now', to: 7, more: 1 })).toEqual({});
  });
});
