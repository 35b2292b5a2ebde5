import { setTimeout as sleep } from 'node:timers/promises';
import { ok, type Result } from '@signalbox/model';
import type { FileLocks, HeldLock, LockRefusal } from '../lock.ts';
import { tryFileLock } from './file-lock.ts';
import { standInLine } from './line-locks.ts';

/** Successive pauses while waiting for another process, in milliseconds. */
const PAUSES = [1, 2, 4, 8, 15, 20, 25, 25, 50, 50, 50];

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

async function acquireFromOthers(path: string): Promise<Result<HeldLock, LockRefusal>> {
  for (const pause of PAUSES) {
    const lock = tryFileLock(path, 'exclusive');
    if (lock.ok || lock.error.code !== 'busy') return lock;
    await sleep(pause);
  }
  return tryFileLock(path, 'exclusive');
}
