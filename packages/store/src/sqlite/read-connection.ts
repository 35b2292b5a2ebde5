import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import { beforeTheLog, FIRST_VERSION, newer, SCHEMA_VERSION, schemaVersion } from '../migrations/migrate.ts';
import { APPLICATION_ID, pragma, refusedBy, unusable } from './connection.ts';

/** `store/missing` is a directory in which nothing was ever run. */
export type ReadError = ErrorEnvelope<'store/unusable' | 'store/newer' | 'store/older' | 'store/missing'>;

/**
 * A connection that cannot write. Where the owner was killed, SQLite puts its log in order again in shared memory, which
 * needs the right to write the directory but changes no data. That, and an owner that closes, are the only times a reader
 * waits for a lock.
 */
export function openReadConnection(file: string): Result<DatabaseSync, ReadError> {
  // Not for SQLite to find out: its error for a missing file is that of an unreadable one.
  if (!existsSync(file)) return err(missing(file));
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { readOnly: true, timeout: WAIT_MS });
    const fault = faultOf(database, file);
    if (fault === undefined) return ok(database);
    database.close();
    return err(fault);
  } catch (cause) {
    database?.close();
    return err(refusedBy(file, cause));
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

function older(found: number): ReadError {
  return failure('store/older', {
    message: `The database has schema version ${found}; this program reads version ${SCHEMA_VERSION}.`,
    suggestion: 'Run or resume something with this program, or start its server: that brings the database up to date.',
    details: { found, known: SCHEMA_VERSION },
  });
}
