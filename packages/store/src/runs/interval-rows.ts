import type { DatabaseSync } from 'node:sqlite';
import type { Json } from '@signalbox/model';
import { type IntervalRow, type IntervalSpace, intervalSpace, type LastValue, type Maybe } from '@signalbox/runs';
import type { JsonColumns } from '../sqlite/json-column.ts';
import type { Row } from '../sqlite/row-codec.ts';
import { cellsOf, type RowBefore, rowBefore, valueOfRows } from './change-cells.ts';
import type { ValueCache } from './value-cache.ts';

export interface IntervalRows {
  last(run: number, space: IntervalSpace, key: string): LastValue | undefined;
  put(run: number, interval: IntervalRow): void;
  valueAt(run: number, space: IntervalSpace, key: string, frame: number): Maybe;
  at(run: number, space: IntervalSpace, frame: number): ReadonlyMap<string, Json>;
  /** What held in a frame of another run holds from frame 0 on. Whole values are copied as they lie in their rows. */
  inherit(run: number, from: number, frame: number): void;
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

/** The rows of a space that hold in a frame of one run, as rows of another's frame 0; sought in the same way. */
const COPY_AT = `
  with recursive keys (key) as (
    select min(key) from intervals where run = :from and space = :space
    union all
    select (select min(key) from intervals where run = :from and space = :space and key > keys.key)
    from keys where keys.key is not null
  )
  insert into intervals (run, space, key, from_frame, kind, value, base_bytes, chain_bytes)
  select :run, :space, keys.key, 0, kind, value, base_bytes, chain_bytes
  from keys cross join intervals on run = :from and space = :space
    and intervals.key = keys.key and from_frame = (
      select max(from_frame) from intervals
      where run = :from and space = :space and key = keys.key and from_frame <= :frame)
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
  const copyAt = database.prepare(COPY_AT);
  const patched = database.prepare('select key from intervals where run = ? and space = ? and kind = 1');

  const placeOf = (run: number, space: IntervalSpace, key: string) => `${run} ${space} ${key}`;

  function valueAt(run: number, space: IntervalSpace, key: string, frame: number): Maybe {
    return valueOfRows(json, backwards.iterate(run, spaceNumber(space), key, frame), `the ${space} of '${key}'`);
  }

  function lastOf(place: string, run: number, space: number, key: string, fromFrame: number): RowBefore | undefined {
    const known = cache.get(place);
    if (known !== undefined && known.fromFrame < fromFrame) return known;
    const row: Row | undefined = lastRow.get(run, space, key);
    return rowBefore(row, row?.from_frame === fromFrame);
  }

  return {
    last(run, space, key) {
      const known = cache.get(placeOf(run, space, key));
      if (known !== undefined) return { fromFrame: known.fromFrame, value: () => known.value };
      const frame = lastFrame.get(run, spaceNumber(space), key)?.frame ?? null;
      if (frame === null) return undefined;
      const fromFrame = Number(frame);
      return { fromFrame, value: () => valueAt(run, space, key, fromFrame) };
    },
    put(run, { space, key, fromFrame, change, value }) {
      const [place, number] = [placeOf(run, space, key), spaceNumber(space)];
      const before = change.kind === 'patch' ? lastOf(place, run, number, key, fromFrame) : undefined;
      const { kind, value: cell, baseBytes, chainBytes } = cellsOf(json, change, value, before);
      upsert.run(run, number, key, fromFrame, kind, cell, baseBytes, chainBytes);
      if (baseBytes === null || chainBytes === null) cache.forget(place);
      else cache.remember(place, { value, fromFrame, baseBytes, chainBytes });
    },
    valueAt,
    inherit(run, from, frame) {
      for (const space of intervalSpace.options) {
        const number = spaceNumber(space);
        copyAt.run({ run, from, space: number, frame });
        // A patch needs the rows before it: its value is put together, and is a whole one here.
        for (const row of patched.all(run, number)) {
          const key = String(row.key);
          const value = valueAt(from, space, key, frame);
          if (value === undefined) continue;
          const { kind, value: cell, baseBytes, chainBytes } = cellsOf(json, { kind: 'set', value }, value, undefined);
          upsert.run(run, number, key, 0, kind, cell, baseBytes, chainBytes);
        }
      }
    },
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
