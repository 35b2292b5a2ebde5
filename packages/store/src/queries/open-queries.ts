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

/** Queries of what is committed, for the code of plans. */
export interface Queries {
  /** Throws what SQLite throws: for a mistake in the SQL, and for anything but reading the views. */
  query(sql: string, parameters: readonly Json[]): readonly Json[];
  close(): void;
}

/**
 * A connection on which plans ask. It sees the views in `views.ts` and nothing else: not the tables below them, and no
 * statement but `select`. Lists and objects among the parameters are bound as their JSON.
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
      return database.prepare(sql).all(...parameters.map(bound)) as unknown as readonly Json[];
    },
    close: () => database.close(),
  });
}

/** `seen` are the tables that the statement at hand reads through a view. */
function addViews(database: DatabaseSync, home: string, seen: Set<string | null>): void {
  const blobs = openBlobFiles({ disk: hostDisk, hasher: nodeHasher, home, writer: 'nobody' });
  const json = jsonColumns(blobs);
  const intervals = intervalRows(database, keyRows(database), json, valueCache());
  database.function('json_of', cell => (cell === null ? null : json.textOf(cell)));
  // SQLite may compile our own statement anew at any time, and asks for it too.
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
  // A table of which no column is used, as when rows are counted, is named outside its view.
  const isReadable = (table: string | null, column: string | null, schema: string | null) =>
    schema === 'temp' || schema === null || madeUp.has(table) || (column === '' && seen.has(table));
  // Asked for every column, table and function that a statement names; `view` is where it was named.
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

/** Tables that SQLite makes up from a parameter. */
const madeUp: ReadonlySet<string | null> = new Set(['json_each', 'json_tree']);

function spaceOf(number: number): IntervalSpace {
  return intervalSpace.options[number] ?? 'state';
}

function bound(value: Json): Cell {
  if (typeof value === 'boolean') return value ? 1 : 0;
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : (value as Cell);
}
