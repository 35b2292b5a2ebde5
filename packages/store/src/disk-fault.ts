import { accessSync, constants, statfsSync } from 'node:fs';
import type { StorageReason } from '@signalbox/model';

/** Below this a database cannot be opened: its shared memory alone takes as much. */
const LEAST_BYTES = 64 * 1024;

/** Whether a directory takes no files because its disk is full or read-only. Looks only: nothing is written. */
export function diskFault(directory: string): Exclude<StorageReason, 'failing'> | undefined {
  try {
    accessSync(directory, constants.W_OK);
  } catch (cause) {
    return cause instanceof Error && 'code' in cause && cause.code === 'EROFS' ? 'read-only' : undefined;
  }
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize < LEAST_BYTES ? 'full' : undefined;
}
