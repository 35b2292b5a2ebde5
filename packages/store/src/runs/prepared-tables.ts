import type { DatabaseSync } from 'node:sqlite';
import { nodeHasher, sqliteCode } from '@signalbox/journal';
import { err, ok, type Result } from '@signalbox/model';
import { type UnusableStore, unusable } from '../sqlite/connection.ts';
import type { JsonColumns } from '../sqlite/json-column.ts';
import { type RunTables, runTables } from './run-tables.ts';
import { valueCache } from './value-cache.ts';

/** The tables for a reader. If one is missing, the database is damaged and is closed. */
export function preparedTables(database: DatabaseSync, json: JsonColumns): Result<RunTables, UnusableStore> {
  try {
    return ok(runTables(database, json, valueCache(), nodeHasher));
  } catch (cause) {
    database.close();
    if (sqliteCode(cause) === undefined || !(cause instanceof Error)) throw cause;
    return err(unusable(cause.message));
  }
}
