import { describe, expect, it } from 'vitest';
import { recentMap } from './recent-map.ts';

describe('a map of recent entries', () => {
  it('[D394] holds no more than its weight, and drops nothing that was set again', () => {
    const map = recentMap<number, number>(100, () => 1);
    for (let n = 0; n < 1_000; n++) {
      map.set(-1, n);
      map.set(n, n);
      const held = Array.from({ length: n + 1 }, (_, key) => key).filter(key => map.get(key) !== undefined);
      expect(held.length).toBeLessThan(100);
      expect(held).toEqual(Array.from({ length: held.length }, (_, at) => n - held.length + 1 + at));
      expect(map.get(-1)).toBe(n);
    }
  });

  it('[D394] weighs an entry that replaces another once', () => {
    const map = recentMap<string, number>(100, weight => weight);
    map.set('a', 40);
    for (let n = 0; n < 100; n++) map.set('b', 45);
    expect([map.get('a'), map.get('b')]).toEqual([40, 45]);
    map.delete('b');
    map.set('c', 50);
    expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([40, undefined, 50]);
  });
});
