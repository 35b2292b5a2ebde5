import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import { diskFault } from '../disk-fault.ts';
import { beforeTheLog, FIRST_VERSION, newer, SCHEMA_VERSION, schemaVersion } from '../migrations/migrate.ts';
import {
  APPLICATION_ID,
  pragma,
  refusedBy,
  SQLITE_CANTOPEN,
  SQLITE_READONLY,
  sqliteCode,
  unusable,
} from './connection.ts';

/** `store/missing` is a directory in which nothing was ever run. */
export type ReadError = ErrorEnvelope<'store/unusable' | 'store/newer' | 'store/older' | 'store/missing'>;

/**
 * A connection that cannot write. Where the owner was killed, SQLite puts its log in order again in shared memory, which
 * changes no data. That, and an owner that closes, are the only times a reader waits for a lock. Where the directory cannot be
 * written, SQLite cannot make that memory: a database without a log is then read as a file that nobody changes.
 */
export function openReadConnection(file: string): Result<DatabaseSync, ReadError> {
  // Not for SQLite to find out: its error for a missing file is that of an unreadable one.
  if (!existsSync(file)) return err(missing(file));
  try {
    return connect(file, file);
  } catch (cause) {
    const code = sqliteCode(cause);
    const lacksMemory = code === SQLITE_READONLY || code === SQLITE_CANTOPEN;
    if (!lacksMemory || diskFault(path.dirname(file)) !== 'read-only') return err(refusedBy(file, cause));
  }
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0) return err(unreadableLog(file));
  const frozen = pathToFileURL(file);
  frozen.searchParams.set('immutable', '1');
  try {
    return connect(frozen, file);
  } catch (cause) {
    return err(unusable(cause instanceof Error ? cause.message : String(cause)));
  }
}

/** Throws what SQLite throws. */
function connect(place: string | URL, file: string): Result<DatabaseSync, ReadError> {
  const database = new DatabaseSync(place, { readOnly: true, timeout: WAIT_MS });
  try {
    const fault = faultOf(database, file);
    if (fault === undefined) return ok(database);
    database.close();
    return err(fault);
  } catch (cause) {
    database.close();
    throw cause;
  }
}

const WAIT_MS = 1_000;

function faultOf(database: DatabaseSync, file: string): ReadError | undefined {
  const version = schemaVersion(database);
  if (version === 0 && pragma(database, 'select count(*) from sqlite_schema') === 0) return missing(file);
  if (pragma(database, 'pragma application_id') !== APPLICATION_ID)
    return unusable('the file is a database of another program');
  if (version > SCHEMA_VERSION) return newer(version, SCHEMA_VERSION);
  if (version < FIRST_VERSION) return beforeTheLog(version);
  if (version < SCHEMA_VERSION) return older(version);
  database.exec('pragma temp_store = memory');
  return undefined;
}

function missing(file: string): ReadError {
  return failure('store/missing', {
    message: `There are no runs here: ${file} does not exist or is empty.`,
    suggestion: 'Run a plan first, or name the data directory that has the runs.',
    details: { file },
  });
}

/** Its shared memory was left out of a copy, or removed. */
function unreadableLog(file: string): ReadError {
  const directory = path.dirname(file);
  return failure('store/unusable', {
    message: `The data directory ${directory} is read-only, and its last process was killed: ${path.basename(file)}-wal must be merged into the database first.`,
    suggestion: 'Make it writable, or copy all of it to a directory of your own and name that one with --data-dir.',
    details: { reason: 'read-only' },
  });
}

function older(found: number): ReadError {
  return failure('store/older', {
    message: `The database has schema version ${found}; this program reads version ${SCHEMA_VERSION}.`,
    suggestion: 'Run or resume something with this program, or start its server: that brings the database up to date.',
    details: { found, known: SCHEMA_VERSION },
  });
}
