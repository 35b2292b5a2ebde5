/**
 * Keeps collecting and writing apart: content that a writer found in a store must not disappear before it is referred to.
 *
 * S1  Writers hold the lock shared, from the first text they store to the end of the append that refers to it.
 * S2  A sweep holds it exclusively, from reading the references until the last file is deleted.
 * S3  The lock is released when its holder dies.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type HeldLock, type LockError, tryFileLock } from '@signalbox/journal';
import { err, failure, ok, type Result } from '@signalbox/model';

/** How long to wait for others: pauses in milliseconds. A write is short; a sweep waits for a moment without writes. */
const PAUSES = {
  shared: [1, 2, 4, 8, 15, 25, 50, 100, 100, 200, 200, 300],
  exclusive: [...Array.from({ length: 200 }, () => 3), ...Array.from({ length: 40 }, () => 50)],
} as const;

export async function acquireSweepLock(
  dataDirectory: string,
  mode: 'shared' | 'exclusive',
): Promise<Result<HeldLock, LockError>> {
  const file = `${dataDirectory}/sweep.lock`;
  let lock = tryFileLock(file, mode);
  for (const pause of PAUSES[mode]) {
    if (lock.ok || lock.error.code !== 'busy') break;
    await sleep(pause);
    lock = tryFileLock(file, mode);
  }
  if (lock.ok) return ok(lock.value);
  return err(lock.error.code === 'busy' ? busy(mode) : unusable(lock.error.reason));
}

function busy(mode: 'shared' | 'exclusive') {
  return failure('SESSION_LOCKED', {
    message:
      mode === 'shared'
        ? 'Unused content is being deleted from the data directory.'
        : 'Sessions are being written without a pause, so nothing could be deleted.',
    suggestion: 'Try again in a moment.',
    retry: { kind: 'retryable_after_ms', afterMs: 1_000 },
  });
}

function unusable(reason: string) {
  return failure('STORE_LOCK_UNUSABLE', {
    message: `The file sweep.lock of the data directory cannot be used: ${reason}.`,
    suggestion: 'Make sure that the data directory is writable; if the file is damaged, delete it.',
  });
}
