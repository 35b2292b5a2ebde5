import { chmodSync, statSync } from 'node:fs';

const OTHERS = 0o077;

/**
 * Takes a file or directory away from everybody but its owner, for files that SQLite makes: it makes them readable for all. By its
 * path, because closing a handle on the file would drop this process's locks on it. A file that is not there, is somebody else's
 * or lies on a read-only disk stays as it is.
 */
export function closeToOthers(path: string): void {
  try {
    const entry = statSync(path);
    if ((entry.mode & OTHERS) !== 0) chmodSync(path, entry.isDirectory() ? 0o700 : 0o600);
  } catch {
    // Its directory, which is private, keeps others away from it.
  }
}
