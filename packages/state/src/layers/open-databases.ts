import * as fs from 'node:fs';
import { nameFromBytes, osPath, shownPath } from '../filesystem/path-name.ts';
import { joined } from '../filesystem/tree.ts';
import { restoreFailed, type StateError } from '../snapshots/snapshot-error.ts';
import { lockedInodes, openFiles } from './open-files.ts';

const LOGS = ['-wal', '-shm', '-journal'];

/** The database that a path is, or whose log it is. */
export function databaseOf(path: string): string {
  return /^(.*?)(?:-wal|-shm|-journal)?$/s.exec(path)?.[1] ?? path;
}

/** Paths that belong together with this one: a database and its logs, the parts of a git repository. */
export function companionsOf(path: string): readonly string[] {
  const database = databaseOf(path);
  const logs = LOGS.map(suffix => database + suffix);
  const git = /^((?:.*\/)?\.git)\/(?:HEAD|index|packed-refs|refs\/.*)$/s.exec(path)?.[1];
  const repository = git === undefined ? [] : [`${git}/HEAD`, `${git}/index`, `${git}/packed-refs`];
  return [...(database === path ? [] : [database]), ...logs, ...repository].filter(at => at !== path);
}

/**
 * The databases at or below the given paths that a program has open, as far as we can tell: if the file were replaced or removed, the
 * program would keep writing to an unreachable file. Programs of other users are detected by their locks.
 */
export function openDatabases(root: string, paths: Iterable<string>): readonly string[] {
  const found = new Map<string, string>();
  const inodes = new Map<bigint, string>();
  for (const path of new Set([...paths].flatMap(path => filesAt(root, path)).map(databaseOf))) {
    const parts = [path, ...LOGS.map(suffix => path + suffix)].flatMap(part => {
      const stat = fileAt(`${root}/${part}`);
      return stat === undefined ? [] : [{ full: `${root}/${part}`, stat }];
    });
    const [own] = parts;
    if (own === undefined || (parts.length === 1 && !isDatabase(own.full, own.stat))) continue;
    for (const { full, stat } of parts) {
      found.set(full, path);
      inodes.set(stat.ino, path);
    }
  }
  if (found.size === 0) return [];
  const open = [...openFiles(new Set(found.keys()))].map(full => found.get(full) as string);
  const locked = lockedInodes().flatMap(inode => inodes.get(inode) ?? []);
  return [...new Set([...open, ...locked])].sort();
}

const MAGIC = Buffer.from('SQLite format 3\0');
const SMALLEST_PAGE = 512n;

/** Whether a file is a SQLite database: it consists of pages and has SQLite's header. */
function isDatabase(full: string, { size }: fs.BigIntStats): boolean {
  if (size < SMALLEST_PAGE || size % SMALLEST_PAGE !== 0n) return false;
  let file: number | undefined;
  try {
    file = fs.openSync(osPath(full), fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
    const head = Buffer.alloc(MAGIC.length);
    return fs.readSync(file, head, 0, head.length, 0) === head.length && head.equals(MAGIC);
  } catch {
    return false;
  } finally {
    if (file !== undefined) fs.closeSync(file);
  }
}

/** The files at and below a path; a missing path counts as one. */
function filesAt(root: string, path: string): readonly string[] {
  const full = path === '' ? root : `${root}/${path}`;
  try {
    if (fs.lstatSync(osPath(full), { throwIfNoEntry: false })?.isDirectory() !== true) return [path];
    const names = fs.readdirSync(osPath(full), { encoding: 'buffer' }).map(nameFromBytes);
    return names.flatMap(name => filesAt(root, joined(path, name)));
  } catch {
    return [path];
  }
}

/** The error when databases are in use and nothing was changed. */
export function databasesOpen(paths: readonly string[]): StateError {
  const named = paths.map(shownPath).join(', ');
  return restoreFailed(`a program has ${named} open and would lose later writes: close it first`, {
    state: 'unchanged',
  });
}

function fileAt(full: string): fs.BigIntStats | undefined {
  try {
    const stat = fs.lstatSync(osPath(full), { bigint: true, throwIfNoEntry: false });
    return stat?.isFile() === true ? stat : undefined;
  } catch {
    return undefined;
  }
}
