import { rmSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { diskFault } from '@signalbox/store';

/** For a database that is opened and from which runs are removed: removing data takes space before it frees any. */
const BYTES = 1024 * 1024;
/** A smaller disk needs its space for runs. */
const LEAST_FREE = 4 * BYTES;

/**
 * Keeps a file in the data directory that only a collection removes, so that it can make room on a full disk. Does nothing on a disk with
 * less than `leastFree` bytes left.
 */
export function keepReserve(dataDirectory: string, leastFree = LEAST_FREE): void {
  const file = fileIn(dataDirectory);
  try {
    if (statSync(file, { throwIfNoEntry: false })?.size === BYTES) return;
    const { bavail, bsize } = statfsSync(dataDirectory);
    if (bavail * bsize < leastFree) return;
    writeFileSync(file, Buffer.alloc(BYTES), { mode: 0o600 });
  } catch {
    // A part of it would only take space.
    rmSync(file, { force: true });
  }
}

/** Gives the reserve to the disk if that is full. */
export function releaseReserve(dataDirectory: string): void {
  if (diskFault(dataDirectory) === 'full') rmSync(fileIn(dataDirectory), { force: true });
}

/** Keeps it again after a collection, even if that freed nothing else: the next one needs it, too. */
export function restoreReserve(dataDirectory: string): void {
  keepReserve(dataDirectory, BYTES);
}

function fileIn(dataDirectory: string): string {
  return path.join(dataDirectory, 'reserve');
}
