import type { RunSummary } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { reasonWords } from './reason-words.ts';
import { lasted, momentWords, nodeStanding, runStanding, span, untilWords } from './words.ts';

const NOW = Date.parse('2026-03-10T12:00:00.000Z');
const MINUTE = 60_000;

describe('times', () => {
  it('[K28] that are relative have one unit, so that they do not change while being read', () => {
    const told = [0, 59, 3 * 60 + 48, 61 * 60, 47 * 3600, 72 * 3600].map(seconds =>
      momentWords(new Date(NOW - seconds * 1000).toISOString(), 'relative', NOW),
    );
    expect(told).toEqual(['just now', '59 s ago', '3 min ago', '1 h ago', '47 h ago', '3 days ago']);
  });

  it('[K75] of durations have two units, and less than a second is shown in milliseconds', () => {
    expect([lasted(16.4), lasted(-3), lasted(20_000), span(5 * MINUTE + 3_000), span(90 * MINUTE)]).toEqual([
      '16 ms',
      '0 ms',
      '20 s',
      '5 min 3 s',
      '1 h 30 min',
    ]);
  });
});

it('[P282] [K188] of a wait for a time name the time, and ask nobody', () => {
  const until = '2026-03-10T15:00:00.000Z';
  const run = (openDecisions: number) => ({ record: { status: 'running' }, openDecisions, until }) as RunSummary;
  expect(untilWords(until)).toMatch(/^waits until 2026-03-1\d \d\d:\d\d:00$/);
  expect(runStanding(run(0))).toEqual({ signal: 'held', word: untilWords(until) });
  expect(runStanding(run(1))).toEqual({ signal: 'waiting', word: 'working, needs you' });
  expect(reasonWords(`timer:${until}`)).toBe(untilWords(until));
  expect(nodeStanding('blocked', `timer:${until}`)).toEqual({ signal: 'held', word: 'waits' });
  expect(nodeStanding('blocked', 'rate_limit')).toEqual({ signal: 'held', word: 'blocked' });
});

it('[A916] of what its process left behind say that it was interrupted', () => {
  const record = { status: 'paused', interrupted: true };
  expect(runStanding({ record, openDecisions: 1 } as RunSummary)).toEqual({ signal: 'held', word: 'interrupted' });
  expect(nodeStanding('blocked', 'interrupted')).toEqual({ signal: 'held', word: 'interrupted' });
  expect(reasonWords('interrupted')).toBe('the process of its run ended');
});
