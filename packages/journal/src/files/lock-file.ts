/**
 * The open SQLite file behind a lock. Opening one takes longer than locking it, so recently used ones are kept open.
 *
 * L1  A kept file holds no lock.
 * L2  A file is locked only while its path names it: a deleted and recreated directory has another lock file.
 * L3  At most `KEPT` are kept; the least recently used one is closed.
 */
import { lstatSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { closeToOthers } from './close-to-others.ts';

export interface LockFile {
  readonly database: DatabaseSync;
  readonly path: string;
  /** The identity of the path before and after the file was opened; undefined if they differ. */
  readonly identity: string | undefined;
}

const KEPT = 16;

/** In order of use. Several may have the same path: each holder has its own. */
const kept = new Set<LockFile>();

/** Removes and returns a kept file of a path. */
export function takeKept(path: string): LockFile | undefined {
  for (const file of kept) {
    if (file.path !== path) continue;
    kept.delete(file);
    return file;
  }
  return undefined;
}

/** Creates the file if it is missing, but not its directory. Throws SQLite's error. */
export function openLockFile(path: string): LockFile {
  const before = identityOf(path);
  const database = new DatabaseSync(path, { timeout: 0 });
  closeToOthers(path);
  return { database, path, identity: before === identityOf(path) ? before : undefined };
}

/** While it is open, nothing else can get its identity. */
export function isNamedByItsPath({ path, identity }: LockFile): boolean {
  return identity !== undefined && identityOf(path) === identity;
}

/** Ends its transaction, and keeps it or closes it. */
export function letGo(file: LockFile): void {
  const { database, identity } = file;
  if (identity === undefined) {
    database.close();
    return;
  }
  database.exec('rollback');
  kept.add(file);
  const [oldest] = kept;
  if (kept.size <= KEPT || oldest === undefined) return;
  kept.delete(oldest);
  oldest.database.close();
}

function identityOf(path: string): string | undefined {
  const entry = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return entry && `${entry.dev} ${entry.ino} ${entry.birthtimeNs}`;
}
