import type { SecretFilter } from '@signalbox/model';

/** Removes secrets from data that leaves the machine, and counts. */
export interface CountedFilter {
  /** Returns the same value if there is nothing to remove; counts changes. */
  data<Value>(value: Value): Value;
  has(text: string): boolean;
  isIn(content: Uint8Array): boolean;
  /** How many values were changed. */
  readonly hits: number;
}

export function countedFilter(filter: SecretFilter): CountedFilter {
  let hits = 0;
  return {
    data(value) {
      const kept = filter.data(value);
      if (kept !== value) hits += 1;
      return kept;
    },
    has: filter.has,
    isIn: content => filter.has(Buffer.from(content.buffer, content.byteOffset, content.length).toString('latin1')),
    get hits() {
      return hits;
    },
  };
}
