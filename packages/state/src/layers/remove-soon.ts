import * as fs from 'node:fs';
import type { HostFiles } from '../filesystem/host-files.ts';
import { nameFromBytes, osPath } from '../filesystem/path-name.ts';

const AT_ONCE = 500;

/**
 * Removes trees of ours when there is nothing else to do, in turns, so that nobody waits for it. Whatever is left when the
 * process ends is removed at the next start.
 */
export interface Removal {
  soon(path: string): void;
  /**
   * Removes now every file that has other names. Removing a name stamps the file that the other names stand for, and
   * that would look as if somebody had changed it.
   */
  finishShared(): void;
}

export function createRemoval(files: HostFiles): Removal {
  const pending = new Set<string>();
  return {
    soon(path) {
      pending.add(path);
      const removal = removed(files, path);
      const next = () => void setImmediate(goOn).unref();
      const goOn = () => {
        try {
          for (let count = 0; count < AT_ONCE; count++) {
            if (removal.next().done !== true) continue;
            pending.delete(path);
            return;
          }
          next();
        } catch {
          // The next start tries again.
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

/** One entry at a time. */
function* removed(files: HostFiles, path: string): Generator<void> {
  const stat = fs.lstatSync(osPath(path), { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (stat.isDirectory()) {
    if ((stat.mode & 0o700) !== 0o700) files.chmod(path, 0o700);
    for (const name of namesIn(path)) yield* removed(files, `${path}/${name}`);
    files.rmdir(path);
  } else files.unlink(path);
  yield;
}

function unlinkShared(files: HostFiles, path: string): void {
  const stat = fs.lstatSync(osPath(path), { throwIfNoEntry: false });
  if (stat?.isDirectory()) {
    if ((stat.mode & 0o700) !== 0o700) files.chmod(path, 0o700);
    for (const name of namesIn(path)) unlinkShared(files, `${path}/${name}`);
  } else if (stat !== undefined && stat.nlink > 1) files.unlink(path);
}

function namesIn(directory: string): readonly string[] {
  return fs.readdirSync(osPath(directory), { encoding: 'buffer' }).map(nameFromBytes);
}
