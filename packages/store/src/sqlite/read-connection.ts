import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { sqliteCode } from '@signalbox/journal';
import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import { diskFault } from '../disk-fault.ts';
import { beforeTheLog, FIRST_VERSION, newer, SCHEMA_VERSION, schemaVersion } from '../migrations/migrate.ts';
import { APPLICATION_ID, pragma, refusedBy, SQLITE_CANTOPEN, SQLITE_READONLY, unusable } from './connection.ts';

/** `store/missing`: nothing was ever run in the directory. */
export type ReadError = ErrorEnvelope<'store/unusable' | 'store/newer' | 'store/older' | 'store/missing'>;

/**
 * A read-only connection. After the owner was killed, SQLite recovers its log in shared memory, which changes no data. A reader waits for a
 * lock only then, and while an owner closes. If the directory is not writable, or its disk is full, SQLite cannot create that memory: a
 * database without a log is then read as an immutable file.
 */
export function openReadConnection(file: string): Result<DatabaseSync, ReadError> {
  // Checked here because SQLite reports a missing file like an unreadable one.
  if (!existsSync(file)) return err(missing(file));
  try {
    return connect(file, file);
  } catch (cause) {
    const code = sqliteCode(cause);
    const lacksMemory = code === SQLITE_READONLY || code === SQLITE_CANTOPEN;
    const fault = diskFault(path.dirname(file));
    const isFrozen = fault === 'full' ? !hasLog(file) : fault === 'read-only' && lacksMemory;
    if (!isFrozen) return err(refusedBy(file, cause));
  }
  if (hasLog(file)) return err(unreadableLog(file));
  const frozen = pathToFileURL(file);
  frozen.searchParams.set('immutable', '1');
  try {
    return connect(frozen, file);
  } catch (cause) {
    return err(unusable(cause instanceof Error ? cause.message : String(cause)));
  }
}

function hasLog(file: string): boolean {
  return (statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

/** Throws SQLite's errors. */
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
    return unusable('the file belongs to another program');
  if (version > SCHEMA_VERSION) return newer(version, SCHEMA_VERSION);
  if (version < FIRST_VERSION) return beforeTheLog(version);
  if (version < SCHEMA_VERSION) return older(version);
  database.exec('pragma temp_store = memory');
  return undefined;
}

function missing(file: string): ReadError {
  return failure('store/missing', {
    message: `No runs found: ${file} does not exist or is empty.`,
    suggestion: 'Run a plan first, or specify the data directory that has the runs.',
    details: { file },
  });
}

/** The shared memory was removed, or not copied. */
function unreadableLog(file: string): ReadError {
  const directory = path.dirname(file);
  return failure('store/unusable', {
    message: `The data directory ${directory} is read-only, and its last process was killed: ${path.basename(file)}-wal must be merged into the database first.`,
    suggestion: 'Make it writable, or copy it to a writable directory and pass that with --data-dir.',
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
