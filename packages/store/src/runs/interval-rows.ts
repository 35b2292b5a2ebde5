import type { DatabaseSync } from 'node:sqlite';
import type { Json } from '@signalbox/model';
import { type IntervalRow, type IntervalSpace, intervalSpace, type LastValue, type Maybe } from '@signalbox/runs';
import type { JsonColumns } from '../sqlite/json-column.ts';
import type { Row } from '../sqlite/row-codec.ts';
import { cellsOf, valueOfRows } from './change-cells.ts';
import type { ValueCache } from './value-cache.ts';

export interface IntervalRows {
  last(run: number, space: IntervalSpace, key: string): LastValue | undefined;
  put(run: number, interval: IntervalRow): void;
  valueAt(run: number, space: IntervalSpace, key: string, frame: number): Maybe;
  at(run: number, space: IntervalSpace, frame: number): ReadonlyMap<string, Json>;
}

/** The number of a space in its column: its place in the list of spaces, which only grows at its end. */
const spaceNumber = (space: IntervalSpace): number => intervalSpace.options.indexOf(space);

/**
 * Each key is one seek to its next key and one to its row: older and newer rows are not read. The cross join keeps SQLite
 * from turning that around.
 */
export const ALL_AT = `
  with recursive keys (key) as (
    select min(key) from intervals where run = :run and space = :space
    union all
    select (select min(key) from intervals where run = :run and space = :space and key > keys.key)
    from keys where keys.key is not null
  )
  select keys.key as key, kind, value from keys cross join intervals on run = :run and space = :space
    and intervals.key = keys.key and from_frame = (
      select max(from_frame) from intervals
      where run = :run and space = :space and key = keys.key and from_frame <= :frame)
  where kind <> 2`;

export function intervalRows(database: DatabaseSync, json: JsonColumns, cache: ValueCache): IntervalRows {
  const ofKey = 'run = ? and space = ? and key = ?';
  const lastFrame = database.prepare(`select max(from_frame) as frame from intervals where ${ofKey}`);
  const lastRow = database.prepare(
    `select from_frame, kind, value, base_bytes, chain_bytes from intervals where ${ofKey}
     order by from_frame desc limit 1`,
  );
  const backwards = database.prepare(
    `select kind, value from intervals where ${ofKey} and from_frame <= ? order by from_frame desc`,
  );
  const upsert = database.prepare(`
    insert into intervals (run, space, key, from_frame, kind, value, base_bytes, chain_bytes)
    values (?, ?, ?, ?, ?, ?, ?, ?)
    on conflict (run, space, key, from_frame) do update set kind = excluded.kind, value = excluded.value,
      base_bytes = excluded.base_bytes, chain_bytes = excluded.chain_bytes`);
  const allAt = database.prepare(ALL_AT);

  const placeOf = (run: number, space: IntervalSpace, key: string) => `${run} ${space} ${key}`;

  function valueAt(run: number, space: IntervalSpace, key: string, frame: number): Maybe {
    return valueOfRows(json, backwards.iterate(run, spaceNumber(space), key, frame), `the ${space} of '${key}'`);
  }

  return {
    last(run, space, key) {
      const frame = lastFrame.get(run, spaceNumber(space), key)?.frame ?? null;
      if (frame === null) return undefined;
      const fromFrame = Number(frame);
      const value = () => {
        const cached = cache.get(placeOf(run, space, key));
        return cached === undefined ? valueAt(run, space, key, fromFrame) : cached.value;
      };
      return { fromFrame, value };
    },
    put(run, { space, key, fromFrame, change, value }) {
      const row: Row | undefined = change.kind === 'patch' ? lastRow.get(run, spaceNumber(space), key) : undefined;
      const before = row && { row, isReplaced: row.from_frame === fromFrame };
      const cells = cellsOf(json, change, value, before);
      upsert.run(run, spaceNumber(space), key, fromFrame, cells.kind, cells.value, cells.baseBytes, cells.chainBytes);
      if (change.kind !== 'patch') cache.forget(placeOf(run, space, key));
      else cache.remember(placeOf(run, space, key), value, Number(cells.baseBytes) + Number(cells.chainBytes));
    },
    valueAt,
    at(run, space, frame) {
      const found = new Map<string, Json>();
      for (const row of allAt.all({ run, space: spaceNumber(space), frame })) {
        const key = String(row.key);
        const value =
          row.kind === 0 ? valueOfRows(json, [row], `the ${space} of '${key}'`) : valueAt(run, space, key, frame);
        if (value !== undefined) found.set(key, value);
      }
      return found;
    },
  };
}
