import { chmodSync, statSync } from 'node:fs';

const OTHERS = 0o077;

/**
 * Makes a file or directory private to its owner, because SQLite creates files readable for all. Works by path, because closing a
 * handle on the file would drop this process's locks on it. A missing file, another user's file, or one on a read-only disk is left
 * alone.
 */
export function closeToOthers(path: string): void {
  try {
    const entry = statSync(path);
    if ((entry.mode & OTHERS) !== 0) chmodSync(path, entry.isDirectory() ? 0o700 : 0o600);
  } catch {
    // Its private directory protects it.
  }
}
