import type { RunSummary } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { endedBetween, periods, trendOf } from './failure-trend.ts';

const NOW = Date.parse('2026-03-10T12:00:00.000Z');
const run = (status: string, endedAt: string) =>
  ({ record: { status, endedAt, updatedAt: endedAt, ...(status === 'stalled' && { error: {} }) } }) as RunSummary;

const runs = [
  run('failed', '2026-03-10T12:00:00.000Z'),
  run('completed', '2026-03-10T11:30:00.000Z'),
  run('stalled', '2026-03-10T10:30:00.000Z'),
  run('running', '2026-03-10T11:30:00.000Z'),
  run('stopped', '2026-03-10T11:30:00.000Z'),
  run('completed', '2026-03-08T11:00:00.000Z'),
  run('failed', '2026-03-02T11:00:00.000Z'),
];

describe('failures over time', () => {
  it('[K57] are counted by part, each end in one of them', () => {
    const hours = trendOf(runs, NOW, 'day');
    expect(hours).toHaveLength(periods.day.parts);
    expect(hours.slice(-2)).toEqual([
      { ended: 1, failed: 1 },
      { ended: 2, failed: 1 },
    ]);
    const days = trendOf(runs, NOW, 'week');
    expect(days.map(({ ended }) => ended)).toEqual([0, 0, 0, 0, 1, 0, 3]);
  });

  it('[K57] are compared with the period before', () => {
    const week = periods.week.parts * periods.week.partMs;
    expect(endedBetween(runs, NOW - week, NOW)).toEqual({ ended: 4, failed: 2 });
    expect(endedBetween(runs, NOW - 2 * week, NOW - week)).toEqual({ ended: 1, failed: 1 });
  });
});
