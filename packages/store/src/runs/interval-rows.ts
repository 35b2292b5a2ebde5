import type { DatabaseSync } from 'node:sqlite';
import type { Json } from '@signalbox/model';
import {
  type Beginning,
  type IntervalRow,
  type IntervalSpace,
  intervalSpace,
  type LastValue,
  type Maybe,
} from '@signalbox/runs';
import { blobOf, type JsonColumns } from '../sqlite/json-column.ts';
import type { Cell, Row } from '../sqlite/row-codec.ts';
import { cellsOf, heldCell, PATCH, type RowBefore, rowBefore, SET, valueOfRows } from './change-cells.ts';
import type { KeyRows } from './key-rows.ts';
import type { ValueCache } from './value-cache.ts';

export interface IntervalRows {
  last(run: number, space: IntervalSpace, key: string): LastValue | undefined;
  put(run: number, interval: IntervalRow): void;
  valueAt(run: number, space: IntervalSpace, key: string, frame: number): Maybe;
  /** The same by key number. */
  valueIn(run: number, space: IntervalSpace, key: number, frame: number): Maybe;
  at(run: number, space: IntervalSpace, frame: number): ReadonlyMap<string, Json>;
  /** All values that hold in a frame. Values in their own blobs are named, not read. */
  heldAt(run: number, frame: number): Beginning['intervals'];
  /** Writes the initial values of a run, from frame 0 on. */
  begin(run: number, intervals: Beginning['intervals']): void;
}

/** The number of a space in its column: its index in the list of spaces, which is only appended to. */
const spaceNumber = (space: IntervalSpace): number => intervalSpace.options.indexOf(space);

/**
 * One seek to each next key and one to its rows, oldest first: those from its last whole value on. Older and newer ones are not read. The
 * cross joins keep SQLite from reordering that.
 */
export const ALL_AT = `
  with recursive held (key) as (
    select min(key) from intervals where run = :run and space = :space
    union all
    select (select min(key) from intervals where run = :run and space = :space and key > held.key)
    from held where held.key is not null
  )
  select held.key, keys.key, kind, value, base_bytes from held
    cross join keys on keys.run = :run and keys.number = held.key
    cross join intervals on intervals.run = :run and space = :space and intervals.key = held.key and from_frame <= :frame
      and from_frame >= coalesce((
        select from_frame from intervals
        where run = :run and space = :space and key = held.key and from_frame <= :frame and kind <> ${PATCH}
        order by from_frame desc limit 1), 0)`;

/** A row of that query. */
type HeldRow = readonly [number: number, key: string, kind: number, value: Cell, baseBytes: number | null];

/** The rows of one key, newest first. */
interface HeldKey {
  readonly number: number;
  readonly key: string;
  readonly rows: readonly { readonly kind: number; readonly value: Cell; readonly baseBytes: number | null }[];
}

export function intervalRows(
  database: DatabaseSync,
  keys: KeyRows,
  json: JsonColumns,
  cache: ValueCache,
): IntervalRows {
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
  allAt.setReturnArrays(true);

  const placeOf = (run: number, space: IntervalSpace, key: string) => `${run} ${space} ${key}`;

  function valueIn(run: number, space: IntervalSpace, key: number, frame: number): Maybe {
    return valueOfRows(json, backwards.iterate(run, spaceNumber(space), key, frame), `the ${space} of key ${key}`);
  }

  function valueAt(run: number, space: IntervalSpace, key: string, frame: number): Maybe {
    const number = keys.numberOf(run, key);
    return number === undefined ? undefined : valueIn(run, space, number, frame);
  }

  /** The keys of a space up to a frame, also those whose values have ended. */
  function keysAt(run: number, space: IntervalSpace, frame: number): readonly HeldKey[] {
    const found = allAt.all({ run, space: spaceNumber(space), frame }) as unknown as readonly HeldRow[];
    const held: HeldKey[] = [];
    let rows: HeldKey['rows'][number][] = [];
    for (let at = found.length - 1; at >= 0; at--) {
      const [number, key, kind, value, baseBytes] = found[at] as HeldRow;
      rows.push({ kind, value, baseBytes });
      if (found[at - 1]?.[0] === number) continue;
      held.push({ number, key, rows });
      rows = [];
    }
    return held.reverse();
  }

  function lastOf(place: string, run: number, space: number, key: number, fromFrame: number): RowBefore | undefined {
    const known = cache.get(place);
    if (known !== undefined && known.fromFrame < fromFrame) return known;
    const row: Row | undefined = lastRow.get(run, space, key);
    return rowBefore(row, row?.from_frame === fromFrame);
  }

  return {
    last(run, space, key) {
      const known = cache.get(placeOf(run, space, key));
      if (known !== undefined) return { fromFrame: known.fromFrame, value: () => known.value };
      const number = keys.numberOf(run, key);
      const frame = number === undefined ? null : (lastFrame.get(run, spaceNumber(space), number)?.frame ?? null);
      if (number === undefined || frame === null) return undefined;
      const fromFrame = Number(frame);
      return { fromFrame, value: () => valueIn(run, space, number, fromFrame) };
    },
    put(run, { space, key, fromFrame, change, value }) {
      const [place, number, keyNumber] = [placeOf(run, space, key), spaceNumber(space), keys.numbered(run, key)];
      const before = change.kind === 'patch' ? lastOf(place, run, number, keyNumber, fromFrame) : undefined;
      const { kind, value: cell, baseBytes, chainBytes } = cellsOf(json, change, value, before);
      upsert.run(run, number, keyNumber, fromFrame, kind, cell, baseBytes, chainBytes);
      if (baseBytes === null || chainBytes === null) cache.forget(place);
      else cache.remember(place, { value, fromFrame, baseBytes, chainBytes });
    },
    valueAt,
    valueIn,
    heldAt: (run, frame) =>
      intervalSpace.options.flatMap(space =>
        keysAt(run, space, frame).flatMap(({ number, key, rows }): Beginning['intervals'] => {
          const [last] = rows;
          if (last?.kind === SET && last.value instanceof Uint8Array) {
            return [{ space, key, value: { blob: blobOf(last.value), length: Number(last.baseBytes) } }];
          }
          const value = valueOfRows(json, rows, `the ${space} of key ${number}`);
          return value === undefined ? [] : [{ space, key, value: { json: value } }];
        }),
      ),
    begin(run, intervals) {
      for (const { space, key, value } of intervals) {
        const [cell, length] = heldCell(json, value);
        upsert.run(run, spaceNumber(space), keys.numbered(run, key), 0, SET, cell, length, 0);
      }
    },
    at(run, space, frame) {
      const found = new Map<string, Json>();
      for (const { number, key, rows } of keysAt(run, space, frame)) {
        const value = valueOfRows(json, rows, `the ${space} of key ${number}`);
        if (value !== undefined) found.set(key, value);
      }
      return found;
    },
  };
}
