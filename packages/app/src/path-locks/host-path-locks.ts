/**
 * Path locks over every process of this machine.
 *
 * H1  To hold a path is to hold its own lock file in the requested mode, and those of all directories above it as shared: so equal and
 *     nested paths exclude each other, and no others do.
 * H2  Lock files are taken from the top down. The holder of a lower one holds all it needs above it, so there are no deadlocks.
 * H3  Callers of one process pass its own locks first, in order of arrival; only one of them waits for other processes.
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type HeldLock, nodeHasher, tryFileLock } from '@signalbox/journal';
import { digestHex, err, failure, ok, type Result } from '@signalbox/model';
import { createPathLocks, type LockError, type LockMode, type PathLocks } from '@signalbox/state';

/** Between two polls of a lock that another process holds. */
const PAUSE_MS = 10;

/** The lock files live in `directory`, which every process that shares the locks must name. */
export function openHostPathLocks(directory: string): PathLocks {
  const local = createPathLocks();
  return {
    async acquire(wanted, mode, signal) {
      const first = await local.acquire(wanted, mode, signal);
      if (!first.ok) return first;
      const others = await acquireFiles(directory, wanted, mode, signal);
      if (!others.ok) {
        first.value();
        return others;
      }
      return ok(() => {
        releaseAll(others.value);
        first.value();
      });
    },
  };
}

async function acquireFiles(
  directory: string,
  wanted: string,
  mode: LockMode,
  signal: AbortSignal | undefined,
): Promise<Result<readonly HeldLock[], LockError>> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const held: HeldLock[] = [];
  for (const place of withAncestors(wanted)) {
    const file = path.join(directory, `${digestHex(nodeHasher(place))}.lock`);
    const lock = await acquireFile(file, place === wanted ? mode : 'shared', wanted, signal);
    if (!lock.ok) {
      releaseAll(held);
      return lock;
    }
    held.push(lock.value);
  }
  return ok(held);
}

async function acquireFile(
  file: string,
  mode: LockMode,
  wanted: string,
  signal: AbortSignal | undefined,
): Promise<Result<HeldLock, LockError>> {
  for (;;) {
    if (signal?.aborted) return err(canceled(wanted));
    const lock = tryFileLock(file, mode);
    if (lock.ok) return lock;
    if (lock.error.code === 'unusable') return err(unusable(wanted, lock.error.reason));
    await sleep(PAUSE_MS, undefined, signal && { signal }).catch(() => undefined);
  }
}

/** `/a/b` is reached by `/`, `/a`, `/a/b`. */
function withAncestors(wanted: string): readonly string[] {
  const { root } = path.parse(wanted);
  const places = [wanted];
  while (places[0] !== root && places[0] !== undefined) places.unshift(path.dirname(places[0]));
  return places;
}

function releaseAll(held: readonly HeldLock[]): void {
  for (const lock of held.toReversed()) lock.release();
}

function canceled(wanted: string): LockError {
  return failure('state/lock-canceled', {
    message: `waiting for the directory ${wanted} was canceled`,
    suggestion: 'Nothing was run. Try again.',
    retry: { kind: 'retryable_immediate' },
  });
}

function unusable(wanted: string, reason: string): LockError {
  return failure('state/lock-failed', {
    message: `the directory ${wanted} cannot be locked: ${reason}`,
    suggestion: 'Nothing was run. Check the data directory with "signalbox doctor".',
  });
}
