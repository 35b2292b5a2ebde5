import { DatabaseSync } from 'node:sqlite';
import { err, ok, type Result } from '@signalbox/model';
import type { HeldLock, LockRefusal } from '../lock.ts';

/** SQLite's code for a lock that someone else holds. */
const SQLITE_BUSY = 5;

/** Held locks are referred to from here: a collected database would free its lock. */
const held = new Set<DatabaseSync>();

/**
 * Takes a lock that dies with its holder, without a native addon and without waiting: a transaction on an empty SQLite
 * file holds SQLite's POSIX locks and writes nothing. The file is made if it is missing, its directory is not. It must
 * never be opened in any other way: closing any handle on it would drop the process's locks.
 */
export function tryFileLock(path: string, mode: 'exclusive' | 'shared'): Result<HeldLock, LockRefusal> {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    // Reading anything takes the shared lock, which stays until the transaction ends.
    database.exec(mode === 'exclusive' ? 'begin exclusive' : 'begin; select 1 from sqlite_schema');
    const taken = database;
    held.add(taken);
    return ok({
      release() {
        held.delete(taken);
        taken.close();
      },
    });
  } catch (cause) {
    database?.close();
    if (sqliteCode(cause) === SQLITE_BUSY) return err({ code: 'busy' });
    return err({ code: 'unusable', reason: cause instanceof Error ? cause.message : String(cause) });
  }
}

function sqliteCode(cause: unknown): number | undefined {
  if (!(cause instanceof Error) || !('errcode' in cause) || typeof cause.errcode !== 'number') return undefined;
  return cause.errcode & 0xff;
}
