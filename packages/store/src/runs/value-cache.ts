import type { Maybe } from '@signalbox/runs';

/**
 * The last values of keys that are being patched, so that a patch need not read what it changes. It may forget anything at
 * any time. Whoever rolls back makes it forget what it was told since the transaction began.
 */
export interface ValueCache {
  get(place: string): { readonly value: Maybe } | undefined;
  /** `bytes` is about what the value takes. */
  remember(place: string, value: Maybe, bytes: number): void;
  forget(place: string): void;
  begin(): void;
  rollback(): void;
}

/** What is remembered of all values together. */
const MAX_BYTES = 64 * 1024 * 1024;

export function valueCache(maxBytes = MAX_BYTES): ValueCache {
  const values = new Map<string, { readonly value: Maybe; readonly bytes: number }>();
  let touched: string[] = [];
  let total = 0;

  function forget(place: string): void {
    total -= values.get(place)?.bytes ?? 0;
    values.delete(place);
  }

  return {
    get: place => values.get(place),
    remember(place, value, bytes) {
      forget(place);
      touched.push(place);
      values.set(place, { value, bytes });
      total += bytes;
      // Oldest first; the newest always fits.
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
  };
}
