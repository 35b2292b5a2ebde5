import { getHeapStatistics } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { CommitNotice } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import { manualMachine } from '../../test/support/run-builders.ts';
import { collectAll, giveBackWhenIdle } from './idle-memory.ts';

function stage() {
  const { timers, pass } = manualMachine();
  const listeners = new Set<(notice: CommitNotice) => void>();
  const feed = {
    subscribe(_: unknown, listener: (notice: CommitNotice) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  let given = 0;
  const end = giveBackWhenIdle(feed, timers, () => {
    given += 1;
  });
  const commit = () => {
    for (const listener of listeners) listener({} as CommitNotice);
  };
  return { pass, commit, end, given: () => given, listeners };
}

describe('memory of an idle process', () => {
  it('[A1231] is given back once nothing was committed for some seconds, and again only after more commits', () => {
    const { pass, commit, given } = stage();
    pass(60_000);
    expect(given()).toBe(0);
    for (let second = 0; second < 20; second += 1) {
      commit();
      pass(1_000);
    }
    expect(given()).toBe(0);
    pass(8_000);
    pass(60_000);
    expect(given()).toBe(1);
    commit();
    pass(4_000);
    expect(given()).toBe(2);
  });

  it('[A1231] is left alone once the host has closed', () => {
    const { pass, commit, end, given, listeners } = stage();
    commit();
    end();
    pass(60_000);
    expect([given(), listeners.size]).toEqual([0, 0]);
  });

  it('[A1231] is given back by a collection that no other code can ask for afterwards', () => {
    let garbage: unknown = Array.from({ length: 300_000 }, (_, n) => ({ n }));
    expect(garbage).toHaveLength(300_000);
    garbage = undefined;
    const before = getHeapStatistics().used_heap_size;
    collectAll(Number.POSITIVE_INFINITY);
    expect(getHeapStatistics().used_heap_size).toBeLessThan(before);
    expect(runInNewContext('typeof gc')).toBe('undefined');
  });
});
