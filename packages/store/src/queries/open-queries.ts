import path from 'node:path';
import { constants, type DatabaseSync } from 'node:sqlite';
import { hostDisk, nodeHasher } from '@signalbox/journal';
import { type Json, ok, type Result } from '@signalbox/model';
import { type IntervalSpace, intervalSpace } from '@signalbox/runs';
import { openBlobFiles } from '../blobs/blob-files.ts';
import { intervalRows } from '../runs/interval-rows.ts';
import { keyRows } from '../runs/key-rows.ts';
import { valueCache } from '../runs/value-cache.ts';
import { jsonColumns } from '../sqlite/json-column.ts';
import { openReadConnection, type ReadError } from '../sqlite/read-connection.ts';
import type { Cell } from '../sqlite/row-codec.ts';
import { views } from './views.ts';

/** SQL queries over committed data, for plans. */
export interface Queries {
  /** Throws SQLite's errors: for invalid SQL, and for anything but reading the views. */
  query(sql: string, parameters: readonly Json[]): readonly Json[];
  close(): void;
}

/**
 * A connection for queries from plans. It sees only the views in `views.ts`: no other tables, and no statement except `select`. Lists and
 * objects among the parameters are bound as JSON.
 */
export function openQueries({ path: file }: { readonly path: string }): Result<Queries, ReadError> {
  const connection = openReadConnection(file);
  if (!connection.ok) return connection;
  const database = connection.value;
  const seen = new Set<string | null>();
  addViews(database, path.dirname(file), seen);
  return ok({
    query(sql, parameters) {
      seen.clear();
      // The views have columns of text, numbers and null only.
      return database.prepare(sql).all(...parameters.map(bound)) as unknown as readonly Json[];
    },
    close: () => database.close(),
  });
}

/** `seen` collects the tables that the current statement reads through a view. */
function addViews(database: DatabaseSync, home: string, seen: Set<string | null>): void {
  const blobs = openBlobFiles({ disk: hostDisk, hasher: nodeHasher, home, writer: 'nobody' });
  const json = jsonColumns(blobs);
  const intervals = intervalRows(database, keyRows(database), json, valueCache());
  database.function('json_of', cell => (cell === null ? null : json.textOf(cell)));
  // SQLite may recompile our own statement at any time, and asks for it too.
  let isOurs = false;
  database.function('value_of', (run, space, key, frame) => {
    isOurs = true;
    try {
      const value = intervals.valueIn(Number(run), spaceOf(Number(space)), Number(key), Number(frame));
      return value === undefined ? null : JSON.stringify(value);
    } finally {
      isOurs = false;
    }
  });
  for (const { name, select } of views) database.exec(`create temp view ${name} as ${select}`);
  const names = new Set<string | null>(views.map(({ name }) => name));
  // A table none of whose columns is used, as in a count, is named outside its view.
  const isReadable = (table: string | null, column: string | null, schema: string | null) =>
    schema === 'temp' || schema === null || madeUp.has(table) || (column === '' && seen.has(table));
  // Called for every column, table and function that a statement names; `view` is where it was named.
  database.setAuthorizer((action, first, second, schema, view) => {
    switch (action) {
      case constants.SQLITE_SELECT:
      case constants.SQLITE_RECURSIVE:
        return constants.SQLITE_OK;
      case constants.SQLITE_FUNCTION:
        return second !== null && forbidden.has(second) && view === null ? constants.SQLITE_DENY : constants.SQLITE_OK;
      case constants.SQLITE_READ:
        if (names.has(view)) seen.add(first);
        return isOurs || names.has(view) || isReadable(first, second, schema)
          ? constants.SQLITE_OK
          : constants.SQLITE_DENY;
      default:
        return constants.SQLITE_DENY;
    }
  });
}

/** Functions that only the views may call. */
const forbidden: ReadonlySet<string> = new Set(['json_of', 'value_of', 'load_extension', 'readfile', 'writefile']);

/** Tables that SQLite derives from a parameter. */
const madeUp: ReadonlySet<string | null> = new Set(['json_each', 'json_tree']);

function spaceOf(number: number): IntervalSpace {
  return intervalSpace.options[number] ?? 'state';
}

function bound(value: Json): Cell {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : (value as Cell);
}
