import { ok } from '@signalbox/model';
import type { FileLocks } from '../lock.ts';

/**
 * Locks among the callers of this thread, for journals that another lock protects from other threads and processes. Creates no
 * file.
 */
export const lineLocks: FileLocks = {
  async acquire(path) {
    return ok({ release: await standInLine(path) });
  },
};

/** The last caller in line for each path. Callers are served in order of arrival. */
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
