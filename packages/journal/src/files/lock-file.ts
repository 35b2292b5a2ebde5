/**
 * The open SQLite file behind a lock. Opening one takes longer than locking it, so that the last ones are kept open.
 *
 * L1  One that is kept holds no lock.
 * L2  One is locked only as long as its path names it: a directory that was deleted and made again has another lock file.
 * L3  No more than `KEPT` are kept; the one that was used longest ago is closed.
 */
import { lstatSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { closeToOthers } from './close-to-others.ts';

export interface LockFile {
  readonly database: DatabaseSync;
  readonly path: string;
  /** What the path named both before and after the file was opened; undefined where that was not one and the same file. */
  readonly identity: string | undefined;
}

const KEPT = 16;

/** In the order of their use. Several may be of one path: each holder has its own. */
const kept = new Set<LockFile>();

/** A kept file of a path, taken out. */
export function takeKept(path: string): LockFile | undefined {
  for (const file of kept) {
    if (file.path !== path) continue;
    kept.delete(file);
    return file;
  }
  return undefined;
}

/** The file is made if it is missing, its directory is not. Throws what SQLite says. */
export function openLockFile(path: string): LockFile {
  const before = identityOf(path);
  const database = new DatabaseSync(path, { timeout: 0 });
  closeToOthers(path);
  return { database, path, identity: before === identityOf(path) ? before : undefined };
}

/** While it is open nothing else gets its identity. */
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
