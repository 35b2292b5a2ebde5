import type { RunSummary } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { failureGroups, failureStreaks, sameFailures } from './failure-groups.ts';

const run = (id: string, status: string, fields: object = {}) =>
  ({ id, record: { name: 'a', status, updatedAt: '2026-01-01T00:00:00.000Z', ...fields } }) as unknown as RunSummary;
const failed = (id: string, message: string, fields: object = {}) =>
  run(id, 'failed', { error: { class: 'terminal', code: 'plan/task-failed', message }, ...fields });

describe('failures', () => {
  it('[K27] are grouped by cause: numbers, ids and everything after the first line are ignored', () => {
    const groups = failureGroups([
      failed('4', 'port 81 is taken\nby 7'),
      failed('3', 'no disk'),
      failed('2', 'port 80 is taken'),
      run('1', 'completed'),
    ]);
    expect(groups.map(({ message, runs }) => [message, runs.map(({ id }) => id)])).toEqual([
      ['port 81 is taken\nby 7', ['4', '2']],
      ['no disk', ['3']],
    ]);
  });

  it('[K153] of a run that happened before are those of earlier runs with the same cause, newest first', () => {
    const [now, ...before] = [
      failed('4', 'port 81 is taken'),
      failed('1', 'port 1 is taken'),
      failed('3', 'port 80 is taken'),
    ];
    const others = [failed('5', 'port 82 is taken'), failed('2', 'no disk'), run('0', 'completed')];
    expect(sameFailures([now as RunSummary, ...before, ...others], now as RunSummary).map(({ id }) => id)).toEqual([
      '3',
      '1',
    ]);
  });

  it('[K27] in a row are those since a plan last completed', () => {
    const row = ['5', '4', '3'].map(id => failed(id, 'x'));
    expect(failureStreaks([...row, run('2', 'completed'), failed('1', 'x')], 3)).toMatchObject([
      { name: 'a', count: 3 },
    ]);
    expect(failureStreaks([run('6', 'completed'), ...row], 1)).toEqual([]);
    expect(failureStreaks([run('6', 'running'), ...row], 4)).toEqual([]);
  });
});
