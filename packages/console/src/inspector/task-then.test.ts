import type { WireTask } from '@signalbox/model';
import { expect, it } from 'vitest';
import { tasksThen } from './task-then.ts';

const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`;

it('[K158] the tasks of an earlier frame are as they were then, without what came later', () => {
  const task = (id: string, fields: object) => ({ id, createdAt: at(0), ...fields }) as unknown as WireTask;
  const done = task('done', { startedAt: at(1), endedAt: at(2), status: 'done', result: 1 });
  const working = { startedAt: at(1), status: 'error', endedAt: at(5), lastError: { message: 'late' }, result: null };
  const later = task('later', { startedAt: at(4), status: 'running' });
  expect(tasksThen([done, task('working', working), later], at(3))).toEqual([
    done,
    task('working', { startedAt: at(1), status: 'running' }),
  ]);
});
