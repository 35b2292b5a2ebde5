import type { Maybe } from '@signalbox/runs';
import { recentMap } from './recent-map.ts';

/** The last value of a key, and the sizes from its rows. */
interface KnownValue {
  readonly value: Maybe;
  readonly fromFrame: number;
  readonly baseBytes: number;
  readonly chainBytes: number;
}

/**
 * Caches the last written values of keys, so that a patch need not read what it changes. It may drop entries at any time. After a rollback,
 * drop everything added since the transaction began.
 */
export interface ValueCache {
  get(place: string): KnownValue | undefined;
  remember(place: string, known: KnownValue): void;
  forget(place: string): void;
  begin(): void;
  rollback(): void;
  /** Drops everything: rows were changed directly. */
  clear(): void;
}

/** The approximate size of all cached values. */
const MAX_BYTES = 16 * 1024 * 1024;
/** The overhead of a key. */
const KEY_BYTES = 256;

export function valueCache(maxBytes = MAX_BYTES): ValueCache {
  const values = recentMap<string, KnownValue>(
    maxBytes,
    ({ baseBytes, chainBytes }) => KEY_BYTES + baseBytes + chainBytes,
  );
  let touched: string[] = [];
  return {
    get: values.get,
    remember(place, known) {
      touched.push(place);
      values.set(place, known);
    },
    forget: values.delete,
    begin() {
      touched = [];
    },
    rollback() {
      for (const place of touched) values.delete(place);
      touched = [];
    },
    clear() {
      values.clear();
      touched = [];
    },
  };
}
