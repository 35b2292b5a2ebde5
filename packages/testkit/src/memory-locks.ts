import type { FileLocks } from '@signalbox/journal';
import { err, ok } from '@signalbox/model';

/** Locks without files, for disks without files. A held lock is busy at once. */
export function memoryLocks(): FileLocks {
  const held = new Set<string>();
  return {
    async acquire(path) {
      if (held.has(path)) return err({ code: 'busy' });
      held.add(path);
      return ok({ release: () => held.delete(path) });
    },
  };
}
