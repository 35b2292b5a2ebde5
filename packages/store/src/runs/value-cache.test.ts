import type { RunId } from '@signalbox/model';
import type { Maybe } from '@signalbox/runs';
import { describe, expect, it } from 'vitest';
import { recentRuns } from './recent-runs.ts';
import type { NumberedRun } from './run-rows.ts';
import { valueCache } from './value-cache.ts';

const known = (value: Maybe, bytes: number) => ({ value, fromFrame: 0, baseBytes: bytes, chainBytes: 0 });

describe('the cache of values', () => {
  it('[D18] forgets the oldest beyond its budget, never the newest', () => {
    const cache = valueCache(3 * 256 + 100);
    cache.remember('a', known(1, 40));
    cache.remember('b', known(2, 40));
    cache.remember('a', known(3, 40));
    cache.remember('c', known(4, 40));
    expect(['a', 'b', 'c'].map(place => cache.get(place)?.value)).toEqual([3, undefined, 4]);
    cache.remember('huge', known(5, 1_000));
    expect(['a', 'c', 'huge'].map(place => cache.get(place)?.value)).toEqual([undefined, undefined, 5]);
    cache.remember('d', known(6, 10));
    expect(['huge', 'd'].map(place => cache.get(place)?.value)).toEqual([undefined, 6]);
  });

  it('[D18] forgets on a rollback what it was told since the transaction began', () => {
    const cache = valueCache();
    cache.remember('kept', known(1, 1));
    cache.begin();
    cache.remember('lost', known(2, 1));
    cache.rollback();
    expect([cache.get('kept')?.value, cache.get('lost')]).toEqual([1, undefined]);
  });

  it('[D18] knows a value that is nothing from one that it does not know', () => {
    const cache = valueCache();
    cache.remember('nothing', known(undefined, 1));
    expect([cache.get('nothing')?.value, 'value' in (cache.get('nothing') ?? {})]).toEqual([undefined, true]);
  });
});

describe('the records of recent runs', () => {
  it('[D18] are bounded, oldest first, and all forgotten on a rollback', () => {
    const runs = recentRuns(2);
    const numbered = (n: number) => ({ n }) as NumberedRun;
    const [a, b, c] = ['a', 'b', 'c'] as unknown as [RunId, RunId, RunId];
    runs.set(a, numbered(1));
    runs.set(b, numbered(2));
    runs.set(a, numbered(1));
    runs.set(c, numbered(3));
    expect([a, b, c].map(run => runs.get(run)?.n)).toEqual([1, undefined, 3]);
    runs.clear();
    expect([a, c].map(run => runs.get(run))).toEqual([undefined, undefined]);
  });
});
