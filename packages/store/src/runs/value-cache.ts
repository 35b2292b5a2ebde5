import type { Maybe } from '@signalbox/runs';

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
  const values = new Map<string, KnownValue>();
  let touched: string[] = [];
  let total = 0;

  const bytesOf = ({ baseBytes, chainBytes }: KnownValue) => KEY_BYTES + baseBytes + chainBytes;

  function forget(place: string): void {
    const known = values.get(place);
    if (known === undefined) return;
    total -= bytesOf(known);
    values.delete(place);
  }

  return {
    get: place => values.get(place),
    remember(place, known) {
      forget(place);
      touched.push(place);
      values.set(place, known);
      total += bytesOf(known);
      if (total <= maxBytes) return;
      // Evicts oldest first; the newest always fits.
      for (const oldest of values.keys()) {
        if (total <= maxBytes || oldest === place) return;
        forget(oldest);
      }
    },
    forget,
    begin() {
      touched = [];
    },
    rollback() {
      for (const place of touched) forget(place);
      touched = [];
    },
    clear() {
      values.clear();
      touched = [];
      total = 0;
    },
  };
}
