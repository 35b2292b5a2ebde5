import * as fs from 'node:fs';
import { nameFromBytes, osPath, shownPath } from '../filesystem/path-name.ts';
import { joined } from '../filesystem/tree.ts';
import { restoreFailed, type StateError } from '../snapshots/snapshot-error.ts';
import type { LayerConflict } from './layer-change.ts';
import { type FileUser, lockedInodes, openingsOf, type SoughtFile, withoutChildren } from './open-files.ts';

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

/** A file that a program would keep writing to after it was replaced or removed: everything written from then on would be lost. */
export interface FileInUse {
  /** Of a database that is open, its own path. */
  readonly path: string;
  /** A database must not be replaced while any program has it open; any other file, while a program has it open for writing. */
  readonly kind: 'database' | 'file';
  /** Without those that one of them started. Empty if it is not known: programs of other users are detected by their locks. */
  readonly by: readonly FileUser[];
}

/** The files at or below the given paths that are in use, as far as we can tell. Paths that do not exist are left out. */
export function filesInUse(root: string, paths: Iterable<string>): readonly FileInUse[] {
  const sought = new Map<string, SoughtFile & { readonly path: string }>();
  /** The database that a file belongs to, by absolute path. */
  const databases = new Map<string, string>();
  const seek = (path: string, stat = fileAt(`${root}/${path}`)): fs.BigIntStats | undefined => {
    const full = `${root}/${path}`;
    if (stat !== undefined) sought.set(full, { path, full, dev: stat.dev, ino: stat.ino });
    return stat;
  };
  const below = new Set([...paths].flatMap(path => filesAt(root, path)));
  for (const path of below) seek(path);
  for (const path of new Set([...below].map(databaseOf))) {
    const own = fileAt(`${root}/${path}`);
    if (own === undefined) continue;
    const logs = LOGS.map(suffix => path + suffix).filter(log => seek(log) !== undefined);
    if (logs.length === 0 && !isDatabase(`${root}/${path}`, own)) continue;
    seek(path, own);
    for (const part of [path, ...logs]) databases.set(`${root}/${part}`, path);
  }
  const found = new Map<string, { readonly kind: FileInUse['kind']; readonly by: Map<number, FileUser> }>();
  const add = (path: string, kind: FileInUse['kind'], by?: FileUser) => {
    const one = found.get(path) ?? { kind, by: new Map() };
    if (by !== undefined) one.by.set(by.pid, by);
    found.set(path, one);
  };
  for (const { file, by, writes } of openingsOf([...sought.values()], root)) {
    const database = databases.get(file.full);
    if (database !== undefined) add(database, 'database', by);
    else if (writes) add(file.full.slice(root.length + 1), 'file', by);
  }
  const locked = databases.size === 0 ? new Set<bigint>() : lockedInodes();
  for (const [full, database] of databases) if (locked.has(sought.get(full)?.ino ?? -1n)) add(database, 'database');
  const inUse = [...found].flatMap(([path, { kind, by }]): readonly FileInUse[] => {
    const users = withoutChildren([...by.values()]);
    return kind === 'file' && users.length === 0 ? [] : [{ path, kind, by: users }];
  });
  return inUse.sort((a, b) => (a.path < b.path ? -1 : 1));
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

/** The error when files are in use and nothing was changed. */
export function inUseError(files: readonly FileInUse[]): StateError {
  const named = files.slice(0, SHOWN).map(inUseWords).join('; ');
  const more = files.length > SHOWN ? `; ${files.length - SHOWN} more files are open` : '';
  return restoreFailed(`${named}${more}: later writes would be lost, so close it first`, { state: 'unchanged' });
}

const SHOWN = 5;

/** A change that would replace or remove the file cannot be applied unasked. */
export function inUseConflict({ path, kind, by }: FileInUse, of: string): LayerConflict {
  return { path, of, theirs: kind === 'database' ? 'in-use' : 'open', ...(by.length > 0 && { by: [...by] }) };
}

/** Says who has a file open. */
export function inUseWords(file: FileInUse): string {
  return inUseBy(file, shownPath(file.path));
}

export function inUseBy({ kind, by }: FileInUse, named: string): string {
  const programs = by.map(({ program, pid }) => `${program} (pid ${pid})`).join(' and ') || 'a program';
  return `${programs} ${by.length > 1 ? 'have' : 'has'} ${named} open${kind === 'file' ? ' for writing' : ''}`;
}

function fileAt(full: string): fs.BigIntStats | undefined {
  try {
    const stat = fs.lstatSync(osPath(full), { bigint: true, throwIfNoEntry: false });
    return stat?.isFile() === true ? stat : undefined;
  } catch {
    return undefined;
  }
}
