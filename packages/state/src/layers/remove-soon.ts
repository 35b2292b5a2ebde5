import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { isTooDeep } from '../filesystem/deep-paths.ts';
import type { HostFiles } from '../filesystem/host-files.ts';
import { osPath } from '../filesystem/path-name.ts';
import { namesIn, removal } from '../filesystem/remove-tree.ts';

const AT_ONCE = 500;

/**
 * Removes our trees in idle time, in small steps, so that nothing waits for it. Leftovers at the end of the process are
 * removed at the next start.
 */
export interface Removal {
  soon(path: string): void;
  /**
   * Removes files with other names immediately. Removing a name updates the ctime of the shared file, which would look like
   * somebody else's change later.
   */
  finishShared(): void;
}

export function createRemoval(files: HostFiles): Removal {
  const pending = new Set<string>();
  return {
    soon(path) {
      pending.add(path);
      const entries = removal(files, path);
      const next = () => void setImmediate(goOn).unref();
      const goOn = () => {
        try {
          for (let count = 0; count < AT_ONCE; count++) {
            if (entries.next().done !== true) continue;
            pending.delete(path);
            return;
          }
          next();
        } catch {
          // The next start retries.
          pending.delete(path);
        }
      };
      next();
    },
    finishShared() {
      for (const path of pending) unlinkShared(files, path);
    },
  };
}

/** Walks as the removal does, which may be half-way: what it finds gone or moved is fine. */
function unlinkShared(files: HostFiles, top: string): void {
  const waiting = [top];
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const stat = fs.lstatSync(osPath(path), { throwIfNoEntry: false });
    if (stat?.isDirectory()) {
      if ((stat.mode & 0o700) !== 0o700) files.chmod(path, 0o700);
      const at = isTooDeep(path) ? `${top}/${randomUUID()}` : path;
      if (at !== path) files.rename(path, at);
      for (const name of namesIn(at)) waiting.push(`${at}/${name}`);
    } else if (stat !== undefined && stat.nlink > 1) files.unlink(path);
  }
}
