import { ok } from '@signalbox/model';
import type { FileLocks } from '../lock.ts';

/**
 * Locks among the callers of this thread, for journals that another lock keeps other threads and processes away from. No file is
 * made.
 */
export const lineLocks: FileLocks = {
  async acquire(path) {
    return ok({ release: await standInLine(path) });
  },
};

/** The last caller in line for each path. Callers of this thread are served in the order they came. */
const lines = new Map<string, Promise<void>>();

export async function standInLine(path: string): Promise<() => void> {
  const ahead = lines.get(path);
  const { promise, resolve } = Promise.withResolvers<void>();
  lines.set(path, promise);
  await ahead;
  return () => {
    if (lines.get(path) === promise) lines.delete(path);
    resolve();
  };
}
