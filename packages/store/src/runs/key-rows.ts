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
