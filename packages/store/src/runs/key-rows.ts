import type { DatabaseSync } from 'node:sqlite';

/** Numbers the keys of a run in the order they were first written: rows refer to keys by number, so neighbours are stored together. */
export interface KeyRows {
  /** The number of a key; undefined if it was never written. */
  numberOf(run: number, key: string): number | undefined;
  /** The number of a key; a new key gets the next one. */
  numbered(run: number, key: string): number;
  /** Forgets cached keys after a rollback. Does nothing in a reader. */
  clear(): void;
}

/** How many keys are cached. */
const MAX_KNOWN = 50_000;

export function keyRows(database: DatabaseSync): KeyRows {
  const find = database.prepare('select number from keys where run = ? and key = ?');
  const last = database.prepare('select max(number) as number from keys where run = ?');
  const insert = database.prepare('insert into keys (run, number, key) values (?, ?, ?)');
  const known = new Map<string, number>();
  /** Runs whose keys are all cached, and how many they have: nothing is read for a new key of theirs. */
  const counts = new Map<number, number>();

  function numberOf(run: number, key: string): number | undefined {
    const cached = known.get(`${run} ${key}`);
    if (cached !== undefined || counts.has(run)) return cached;
    const row = find.get(run, key);
    return row && Number(row.number);
  }

  function added(run: number, key: string): number {
    const number = counts.get(run) ?? nextIn(run);
    insert.run(run, number, key);
    if (counts.has(run)) counts.set(run, number + 1);
    return number;
  }

  /** A run without keys is counted from now on. */
  function nextIn(run: number): number {
    const highest = last.get(run)?.number ?? null;
    if (highest !== null) return Number(highest) + 1;
    counts.set(run, 0);
    return 0;
  }

  function clear(): void {
    known.clear();
    counts.clear();
  }

  return {
    numberOf,
    numbered(run, key) {
      const place = `${run} ${key}`;
      const number = numberOf(run, key) ?? added(run, key);
      if (known.has(place)) return number;
      if (known.size >= MAX_KNOWN) clear();
      known.set(place, number);
      return number;
    },
    clear,
  };
}
