import type { DatabaseSync } from 'node:sqlite';
import type { Maybe, Page, TransitionPlace, TransitionRow, TransitionView } from '@signalbox/runs';
import { applyChange, DEFAULT_PAGE, intervalSpace, type TransitionFilter, transition } from '@signalbox/runs';
import { type JsonColumns, StoreDamage } from '../sqlite/json-column.ts';
import type { Row } from '../sqlite/row-codec.ts';
import { cellsOf, changeOfRow, rowBefore, valueOfRows } from './change-cells.ts';
import type { ValueCache } from './value-cache.ts';

export interface TransitionRows {
  /** The value after the last transition of a key. */
  last(run: number, key: string): { readonly value: Maybe } | undefined;
  insert(run: number, row: TransitionRow): void;
  /** Writes the initial state of a run as the first transitions of its keys. */
  begin(run: number, trigger: string, at: string): void;
  page(run: number, filter: TransitionFilter): Page<TransitionView, TransitionPlace>;
}

export function transitionRows(database: DatabaseSync, json: JsonColumns, cache: ValueCache): TransitionRows {
  const backwards = database.prepare(`
    select kind, value, base_bytes, chain_bytes from transitions where run = ? and key = ?
    order by frame desc, idx desc`);
  const before = database.prepare(`
    select kind, value from transitions where run = ? and key = ? and (frame, idx) < (?, ?)
    order by frame desc, idx desc`);
  const insert = database.prepare(`
    insert into transitions (run, frame, idx, key, kind, value, base_bytes, chain_bytes, trigger, node, handler, at)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const forwards = database.prepare(`
    select * from transitions where run = ? and (frame, idx) >= (?, ?) order by frame, idx limit ?`);
  const forwardsOfKey = database.prepare(`
    select * from transitions where run = ? and key = ? and (frame, idx) >= (?, ?) order by frame, idx limit ?`);

  const placeOf = (run: number, key: string) => `${run} transition ${key}`;

  function viewOf(row: Row, old: Maybe): TransitionView {
    const what = `transition ${row.idx} of frame ${row.frame}`;
    const change = changeOfRow(json, row, what);
    const parsed = transition.safeParse({
      frame: row.frame,
      index: row.idx,
      key: row.key,
      change,
      ...(row.trigger === null ? {} : { trigger: row.trigger }),
      ...(row.node === null ? {} : { node: row.node }),
      ...(row.handler === null ? {} : { handler: row.handler }),
      at: row.at,
    });
    const applied = applyChange(old, change);
    if (!parsed.success || !applied.ok) throw new StoreDamage(`${what} is damaged`);
    const { change: _, ...rest } = parsed.data;
    return { ...rest, old, new: applied.value };
  }

  const begin = database.prepare(`
    insert into transitions (run, frame, idx, key, kind, value, base_bytes, chain_bytes, trigger, at)
    select intervals.run, 0, row_number() over (order by keys.key) - 1, keys.key, kind, value, base_bytes, chain_bytes, ?, ?
    from intervals join keys on keys.run = intervals.run and keys.number = intervals.key
    where intervals.run = ? and space = ? and from_frame = 0`);

  return {
    begin: (run, trigger, at) => void begin.run(trigger, at, run, intervalSpace.options.indexOf('state')),
    last(run, key) {
      const cached = cache.get(placeOf(run, key));
      if (cached !== undefined) return cached;
      return { value: valueOfRows(json, backwards.iterate(run, key), `the transitions of '${key}'`) };
    },
    insert(run, { frame, index, key, change, value, trigger, node, handler, at }) {
      const place = placeOf(run, key);
      const before =
        change.kind === 'patch' ? (cache.get(place) ?? rowBefore(backwards.get(run, key), false)) : undefined;
      const { kind, value: cell, baseBytes, chainBytes } = cellsOf(json, change, value, before);
      const origin = [trigger ?? null, node ?? null, handler ?? null, at];
      insert.run(run, frame, index, key, kind, cell, baseBytes, chainBytes, ...origin);
      if (baseBytes === null || chainBytes === null) cache.forget(place);
      else cache.remember(place, { value, fromFrame: frame, baseBytes, chainBytes });
    },
    page(run, { key, from = { frame: 0, index: 0 }, limit = DEFAULT_PAGE }) {
      const rows: Row[] =
        key === undefined
          ? forwards.all(run, from.frame, from.index, limit + 1)
          : forwardsOfKey.all(run, key, from.frame, from.index, limit + 1);
      const values = new Map<string, Maybe>();
      const items = rows.slice(0, limit).map(row => {
        const name = String(row.key);
        if (!values.has(name)) {
          const older = before.iterate(run, name, Number(row.frame), Number(row.idx));
          values.set(name, valueOfRows(json, older, `the transitions of '${name}'`));
        }
        const view = viewOf(row, values.get(name));
        values.set(name, view.new);
        return view;
      });
      const next = rows[limit];
      if (next === undefined) return { items };
      return { items, next: { frame: Number(next.frame), index: Number(next.idx) } };
    },
  };
}
