import { Bug, err, ok, type Result, thrownMessage } from '@signalbox/model';
import type { HeldLock, LockRefusal } from '../lock.ts';
import { isNamedByItsPath, type LockFile, letGo, openLockFile, takeKept } from './lock-file.ts';

/** SQLite's code for a lock that someone else holds. */
const SQLITE_BUSY = 5;

/** An exclusive transaction would create a file for its journal, although it would stay empty. */
const NO_JOURNAL_FILE = 'pragma journal_mode = memory';

/** Reading anything takes the shared lock, which stays until the transaction ends. */
const BEGIN = { exclusive: 'begin exclusive', shared: 'begin; select 1 from sqlite_schema' } as const;

/** Keeps held locks alive: a garbage-collected database would release its lock. */
const held = new Set<LockFile>();

/**
 * Takes a lock that dies with its holder, without a native addon and without waiting: a transaction on an empty SQLite
 * file holds SQLite's POSIX locks and writes nothing. The file is created if it is missing, its directory is not. It must
 * never be opened in any other way: closing any handle on it would drop the process's locks.
 */
export function tryFileLock(path: string, mode: 'exclusive' | 'shared'): Result<HeldLock, LockRefusal> {
  for (let known = takeKept(path); known !== undefined; known = takeKept(path)) {
    const lock = lockOf(known, BEGIN[mode]);
    // Checked under the lock: a process that deletes the file holds the lock.
    if (!lock.ok || isNamedByItsPath(known)) return lock;
    held.delete(known);
    known.database.close();
  }
  try {
    return lockOf(openLockFile(path), `${NO_JOURNAL_FILE}; ${BEGIN[mode]}`);
  } catch (cause) {
    return err({ code: 'unusable', reason: thrownMessage(cause) });
  }
}

function lockOf(file: LockFile, statements: string): Result<HeldLock, LockRefusal> {
  try {
    file.database.exec(statements);
  } catch (cause) {
    file.database.close();
    return err(
      sqliteCode(cause) === SQLITE_BUSY ? { code: 'busy' } : { code: 'unusable', reason: thrownMessage(cause) },
    );
  }
  held.add(file);
  let isReleased = false;
  return ok({
    release() {
      // The file may belong to somebody else now.
      if (isReleased) throw new Bug(`the lock ${file.path} was released twice`);
      isReleased = true;
      held.delete(file);
      letGo(file);
    },
  });
}

export function sqliteCode(cause: unknown): number | undefined {
  if (!(cause instanceof Error) || !('errcode' in cause) || typeof cause.errcode !== 'number') return undefined;
  return cause.errcode & 0xff;
}
