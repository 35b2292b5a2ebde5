import type { DatabaseSync } from 'node:sqlite';

/** The keys of a run by number, in the order they were first written: rows name them by it, and neighbours lie side by side. */
export interface KeyRows {
  /** The number of a key; undefined where nothing was written under it. */
  numberOf(run: number, key: string): number | undefined;
  /** The number of a key, which is the next one where it is new. */
  numbered(run: number, key: string): number;
  /** Forgets what it remembers of keys that were written: some were taken back. Who only reads has nothing to forget. */
  clear(): void;
}

/** How many keys are remembered. */
const MAX_KNOWN = 50_000;

export function keyRows(database: DatabaseSync): KeyRows {
  const find = database.prepare('select number from keys where run = ? and key = ?');
  const last = database.prepare('select max(number) as number from keys where run = ?');
  const insert = database.prepare('insert into keys (run, number, key) values (?, ?, ?)');
  const known = new Map<string, number>();

  function numberOf(run: number, key: string): number | undefined {
    const row = known.get(`${run} ${key}`) ?? find.get(run, key)?.number;
    return row === undefined ? undefined : Number(row);
  }

  function added(run: number, key: string): number {
    const highest = last.get(run)?.number ?? null;
    const number = highest === null ? 0 : Number(highest) + 1;
    insert.run(run, number, key);
    return number;
  }

  return {
    numberOf,
    numbered(run, key) {
      const place = `${run} ${key}`;
      const remembered = known.get(place);
      if (remembered !== undefined) return remembered;
      const number = numberOf(run, key) ?? added(run, key);
      if (known.size >= MAX_KNOWN) known.clear();
      known.set(place, number);
      return number;
    },
    clear: () => known.clear(),
  };
}
