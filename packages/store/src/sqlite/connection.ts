import nodePath from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { closeToOthers } from '@signalbox/journal';
import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import { diskRefusal } from '../disk-fault.ts';

/** The oldest SQLite with a sound write-ahead log. */
const MIN_SQLITE = '3.51.3';

/** Marks a file as ours: `SBox`. */
export const APPLICATION_ID = 0x53_42_6f_78;

export type UnusableStore = ErrorEnvelope<'store/unusable'>;

/**
 * Opens a database file with our settings: durable at COMMIT, and never waiting for a lock. Only opening waits, for a reader that recovers
 * the log of a killed owner.
 */
export function openConnection(
  path: string,
  connect: (path: string) => DatabaseSync = connectTo,
): Result<DatabaseSync, UnusableStore> {
  let database: DatabaseSync | undefined;
  try {
    database = connect(path);
    database.exec(`pragma busy_timeout = ${OPENING_WAIT_MS}`);
    const fault = configure(database, path);
    database.exec('pragma busy_timeout = 0');
    if (fault === undefined) return ok(database);
    database.close();
    return err(unusable(fault));
  } catch (cause) {
    database?.close();
    return err(refusedBy(path, cause));
  }
}

export const SQLITE_READONLY = 8;
export const SQLITE_IOERR = 10;
export const SQLITE_FULL = 13;
export const SQLITE_CANTOPEN = 14;
export const SQLITE_CONSTRAINT = 19;

export function isAtLeast(version: string, least: string): boolean {
  const [have, want] = [version, least].map(text => text.split('.').map(Number));
  for (const [index, part] of (want ?? []).entries()) {
    const given = have?.[index] ?? 0;
    if (given !== part) return given > part;
  }
  return true;
}

const OPENING_WAIT_MS = 5_000;

function connectTo(path: string): DatabaseSync {
  return new DatabaseSync(path);
}

function configure(database: DatabaseSync, path: string): string | undefined {
  const version = String(pragma(database, 'select sqlite_version()'));
  if (!isAtLeast(version, MIN_SQLITE)) return `SQLite is ${version}; ${MIN_SQLITE} or newer is required`;
  const application = pragma(database, 'pragma application_id');
  if (application !== 0 && application !== APPLICATION_ID) return 'the file belongs to another program';
  if (application === 0 && pragma(database, 'select count(*) from sqlite_schema') !== 0) {
    return 'the file belongs to another program';
  }
  // Before the first page: SQLite gives the log and the shared memory the mode of the database.
  for (const file of [path, `${path}-wal`, `${path}-shm`]) closeToOthers(file);
  if (pragma(database, 'pragma journal_mode = wal') !== 'wal') return 'the file cannot have a write-ahead log';
  database.exec(`
    pragma application_id = ${APPLICATION_ID};
    pragma synchronous = full;
    pragma foreign_keys = on;
    pragma fullfsync = on;
    pragma checkpoint_fullfsync = on;
    pragma temp_store = memory;
  `);
  return undefined;
}

/** The single value that a query returns. */
export function pragma(database: DatabaseSync, sql: string): unknown {
  return Object.values(database.prepare(sql).get() ?? {})[0];
}

/** Why a database could not be opened; blames the disk if that is the cause. */
export function refusedBy(file: string, cause: unknown): UnusableStore {
  return diskRefusal(nodePath.dirname(file)) ?? unusable(cause instanceof Error ? cause.message : String(cause));
}

export function unusable(why: string): UnusableStore {
  return failure('store/unusable', {
    message: `The database cannot be used: ${why}.`,
    suggestion:
      'Make sure that the data directory is writable and that Signalbox created its db.sqlite. If the file is damaged, "signalbox repair --from-journals" rebuilds it.',
  });
}

/** Defects that SQLite finds in pages and indexes; empty if the file is intact. */
export function fileDefects(database: DatabaseSync): readonly string[] {
  return database
    .prepare('pragma integrity_check')
    .all()
    .flatMap(({ integrity_check: said }) => String(said).split('\n'))
    .filter(said => said !== 'ok' && !said.startsWith('***'));
}
