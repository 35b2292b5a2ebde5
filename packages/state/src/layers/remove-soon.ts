import * as fs from 'node:fs';
import type { HostFiles } from '../filesystem/host-files.ts';
import { nameFromBytes, osPath } from '../filesystem/path-name.ts';

const AT_ONCE = 500;

/**
 * Removes a tree of ours when there is nothing else to do, in turns, so that nobody waits for it. What a process leaves of it
 * when it ends is removed at the next start.
 */
export function removeSoon(files: HostFiles, path: string): void {
  const removal = removed(files, path);
  const next = () => void setImmediate(goOn).unref();
  const goOn = () => {
    try {
      for (let count = 0; count < AT_ONCE; count++) if (removal.next().done === true) return;
      next();
    } catch {
      // The next start tries again.
    }
  };
  next();
}

/** One entry at a time. */
function* removed(files: HostFiles, path: string): Generator<void> {
  const stat = fs.lstatSync(osPath(path), { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (stat.isDirectory()) {
    if ((stat.mode & 0o700) !== 0o700) files.chmod(path, 0o700);
    for (const name of fs.readdirSync(osPath(path), { encoding: 'buffer' })) {
      yield* removed(files, `${path}/${nameFromBytes(name)}`);
    }
    files.rmdir(path);
  } else files.unlink(path);
  yield;
}
