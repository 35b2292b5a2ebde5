import type { FileLocks } from '@signalbox/journal';
import { err, ok } from '@signalbox/model';

/** In-memory locks, for in-memory disks. A held lock is busy immediately. */
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
