import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { err, ok, type Result } from '@signalbox/model';
import type { FileLocks, HeldLock, LockRefusal } from '../lock.ts';

/** How long another process is waited for: pauses in milliseconds, one after the other. */
const PAUSES = [1, 2, 4, 8, 15, 20, 25, 25, 50, 50, 50];

/** SQLite's own codes for a lock that someone else holds. */
const SQLITE_BUSY = 5;

/**
 * Locks that die with their holder, without a native addon: an exclusive transaction on an empty SQLite file holds SQLite's POSIX
 * locks and writes nothing. The lock file must never be opened in any other way: closing any handle on it would drop
 * the process's locks.
 */
export const sqliteLocks: FileLocks = {
  async acquire(path) {
    const leave = await standInLine(path);
    const lock = await acquireFromOthers(path);
    if (!lock.ok) {
      leave();
      return lock;
    }
    return ok({
      release() {
        lock.value.release();
        leave();
      },
    });
  },
};

/** Held locks are referred to from here: a collected database would free its lock. */
const held = new Set<DatabaseSync>();

/** The last caller in line for each path. Callers of this process are served in the order they came. */
const lines = new Map<string, Promise<void>>();

async function standInLine(path: string): Promise<() => void> {
  const ahead = lines.get(path);
  const { promise, resolve } = Promise.withResolvers<void>();
  lines.set(path, promise);
  await ahead;
  return () => {
    if (lines.get(path) === promise) lines.delete(path);
    resolve();
  };
}

async function acquireFromOthers(path: string): Promise<Result<HeldLock, LockRefusal>> {
  for (const pause of PAUSES) {
    const lock = tryAcquire(path);
    if (lock.ok || lock.error.code !== 'busy') return lock;
    await sleep(pause);
  }
  return tryAcquire(path);
}

function tryAcquire(path: string): Result<HeldLock, LockRefusal> {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(path, { timeout: 0 });
    database.exec('begin exclusive');
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
