import type { RunId, Timestamp } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import type { AnyEvent } from '../events/stored-event.ts';
import { isInRanges, rangesBetween } from './frame-range.ts';
import { keptFrames } from './kept-frames.ts';
import { planRetention, type RetainedRun } from './plan-retention.ts';
import { DEFAULT_RETENTION } from './retention-policy.ts';

const NOW = Date.parse('2026-11-16T00:00:00.000Z');
const ago = (days: number) => new Date(NOW - days * 86_400_000).toISOString() as Timestamp;
const id = (name: string) => name as RunId;

function run(name: string, days: number, fields: Partial<RetainedRun> = {}): RetainedRun {
  return {
    id: id(name),
    status: 'completed',
    endedAt: ago(days),
    isKept: false,
    isDriven: false,
    isCollapsed: false,
    frames: 10,
    ...fields,
  };
}
const fork = (of: string): RetainedRun['origin'] => ({
  kind: 'fork',
  run: id(of),
  frame: 3,
  head: 'sha256:0' as never,
});
const sub = (of: string): RetainedRun['origin'] => ({
  kind: 'sub-plan',
  run: id(of),
  node: 'n' as never,
  iteration: 0,
});
const plan = (...runs: readonly RetainedRun[]) => planRetention(runs, DEFAULT_RETENTION, NOW);

describe('the plan of a collection', () => {
  it('[L56] leaves runs alone for 30 days, then collapses them, and lets them go after 90', () => {
    expect(plan(run('a', 29.9), run('b', 30), run('c', 89.9), run('d', 90))).toEqual({
      remove: [['d']],
      collapse: ['b', 'c'],
      spared: [],
    });
    expect(planRetention([run('d', 900)], { collapseAfterDays: null, removeAfterDays: null }, NOW)).toEqual({
      remove: [],
      collapse: [],
      spared: [],
    });
  });

  it('[L56] does not collapse twice, nor what has no frames between', () => {
    expect(plan(run('a', 40, { isCollapsed: true }), run('b', 40, { frames: 2 })).collapse).toEqual([]);
  });

  it.each(['running', 'queued', 'waiting', 'paused', 'stalled'] as const)(
    '[L57] lets a run stay that is %s',
    status => {
      expect(plan(run('a', 900, { status, endedAt: undefined }))).toEqual({ remove: [], collapse: [], spared: [] });
      expect(plan(run('a', 900, { status }))).toEqual({ remove: [], collapse: [], spared: [] });
    },
  );

  it('[L57] lets a run stay that is driven, or kept; of a kept one it says so', () => {
    expect(plan(run('a', 900, { isDriven: true }))).toEqual({ remove: [], collapse: [], spared: [] });
    expect(plan(run('a', 900, { isKept: true }))).toEqual({
      remove: [],
      collapse: [],
      spared: [{ run: 'a', why: 'kept' }],
    });
  });

  it('[L58] takes a run and its sub-plans together, by the age of the run above', () => {
    const tree = [run('a', 91), run('b', 100, { origin: sub('a') }), run('c', 5, { origin: sub('b') })];
    expect(plan(...tree).remove).toEqual([['a', 'b', 'c']]);
    expect(plan(run('a', 5), run('b', 100, { origin: sub('a') }))).toMatchObject({ remove: [], collapse: [] });
    expect(plan(run('a', 91), run('b', 100, { origin: sub('a'), isKept: true })).remove).toEqual([]);
    expect(plan(run('a', 91), run('b', 91, { origin: sub('a'), status: 'waiting' })).remove).toEqual([]);
    expect(plan(run('orphan', 91, { origin: sub('gone') })).remove).toEqual([['orphan']]);
  });

  it('[L58] keeps what was forked as long as a fork stays, and all that it was forked from', () => {
    const chain = [run('a', 200), run('b', 150, { origin: fork('a') }), run('c', 10, { origin: fork('b') })];
    expect(plan(...chain)).toEqual({
      remove: [],
      collapse: ['a', 'b'],
      spared: [
        { run: 'b', why: 'forked' },
        { run: 'a', why: 'forked' },
      ],
    });
    expect(plan(run('a', 200), run('b', 150, { origin: fork('a') })).remove).toEqual([['a'], ['b']]);
    const below = [run('a', 200), run('s', 200, { origin: sub('a') }), run('f', 1, { origin: fork('s') })];
    expect(plan(...below).remove).toEqual([]);
  });
});

describe('frames that are kept', () => {
  const frame = (index: number) => ({ type: 'frame.committed', frame: index }) as AnyEvent;

  it('[L59] are the first, the last, those that were forked, and those with decisions and failures', () => {
    const events = [
      frame(0),
      frame(1),
      { type: 'decision.asked' },
      frame(2),
      { type: 'decision.answered' },
      frame(3),
      { type: 'task.ended', outcome: 'done' },
      frame(4),
      { type: 'task.ended', outcome: 'error' },
      frame(5),
      { type: 'node.status', frame: 6, to: 'failed' },
      frame(6),
      frame(7),
      { type: 'node.status', frame: 7, to: 'succeeded' },
      frame(8),
      frame(9),
      { type: 'run.status', to: 'completed' },
    ] as AnyEvent[];
    expect([...keptFrames(events, 10, [8, 99])].sort()).toEqual([0, 1, 2, 4, 6, 8, 9]);
    expect([...keptFrames([], 0, [])]).toEqual([]);
    expect([...keptFrames([{ type: 'run.status', to: 'failed' } as AnyEvent], 1, [])]).toEqual([0]);
  });

  it('[L59] leave ranges between them', () => {
    expect(rangesBetween(new Set([0, 3, 4, 9]), 10)).toEqual([
      { from: 1, to: 2 },
      { from: 5, to: 8 },
    ]);
    expect(rangesBetween(new Set([2]), 4)).toEqual([
      { from: 0, to: 1 },
      { from: 3, to: 3 },
    ]);
    expect(rangesBetween(new Set([0, 1]), 2)).toEqual([]);
    expect([0, 1, 2, 3].map(at => isInRanges([{ from: 1, to: 2 }], at))).toEqual([false, true, true, false]);
  });
});
