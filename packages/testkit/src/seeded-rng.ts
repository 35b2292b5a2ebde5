import type { Rng } from '@signalbox/model';

/** Randomness that a seed repeats. */
export interface SeededRng extends Rng {
  /** A whole number from 0 up to, not including, `limit`. */
  below(limit: number): number;
  pick<T>(values: readonly T[]): T;
}

/** SplitMix32: small, fast, and good enough for tests; not for keys. */
export function seededRng(seed: number): SeededRng {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x9e37_79b9) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0_aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a_2d97);
    return (mixed ^ (mixed >>> 15)) >>> 0;
  };
  const below = (limit: number): number => Math.floor((next() / 0x1_0000_0000) * limit);
  return {
    bytes: length => Uint8Array.from({ length }, () => next() & 0xff),
    below,
    pick(values) {
      const value = values[below(values.length)];
      if (value === undefined) throw new RangeError('nothing to pick from');
      return value;
    },
  };
}
