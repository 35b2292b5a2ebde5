import * as fs from 'node:fs';
import * as path from 'node:path';
import * as z from 'zod';
import { namesIfReadable } from '../filesystem/directory-names.ts';
import { isWithin } from '../filesystem/path-locks.ts';

/** A program that has a file open. */
export const fileUser = z.strictObject({ program: z.string(), pid: z.int() });
export type FileUser = Readonly<z.infer<typeof fileUser>>;

/** A file to look for: its absolute path, and what identifies it whatever a program calls it. */
export interface SoughtFile {
  readonly full: string;
  readonly dev: bigint;
  readonly ino: bigint;
}

export interface FileOpening {
  readonly file: SoughtFile;
  readonly by: FileUser;
  /** Whether the program can write to it. */
  readonly writes: boolean;
}

/**
 * The programs that have the given files open, or mapped to write to them, as far as we may see: an ordinary user sees their own programs, and
 * only Linux tells. Reads the process table once. No file outside of `root` is touched unless it may be one of them: on a network
 * filesystem that does not answer, that would block.
 */
export function openingsOf(sought: readonly SoughtFile[], root: string): readonly FileOpening[] {
  if (process.platform !== 'linux' || sought.length === 0) return [];
  const byInode = new Map<bigint, SoughtFile[]>();
  for (const file of sought) byInode.set(file.ino, [...(byInode.get(file.ino) ?? []), file]);
  const found: FileOpening[] = [];
  for (const pid of visiblePrograms()) {
    const own = [...opened(pid, byInode, root), ...mapped(pid, byInode)];
    if (own.length === 0) continue;
    const by = { program: programOf(pid), pid: Number(pid) };
    found.push(...own.map(one => ({ ...one, by })));
  }
  return found;
}

/**
 * Leaves out programs that have ended meanwhile, and those that were started by another one of them: they come and go while that one runs.
 */
export function withoutChildren(users: readonly FileUser[]): readonly FileUser[] {
  const pids = new Set(users.map(({ pid }) => pid));
  return users.filter(({ pid }) => {
    if (textOf(`/proc/${pid}/status`) === '') return false;
    for (let above = parentOf(pid), depth = 0; above > 1 && depth < DEEPEST; above = parentOf(above), depth++) {
      if (pids.has(above)) return false;
    }
    return true;
  });
}

const DEEPEST = 64;

function parentOf(pid: number): number {
  return Number(/^PPid:\s*(\d+)$/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0);
}

type Opened = Omit<FileOpening, 'by'>;

function opened(pid: string, byInode: ReadonlyMap<bigint, readonly SoughtFile[]>, root: string): readonly Opened[] {
  return namesIfReadable(`/proc/${pid}/fd`).flatMap(fd => {
    const at = `/proc/${pid}/fd/${fd}`;
    const target = linkOf(at);
    if (target === undefined || !isFilePath(target)) return [];
    const info = textOf(`/proc/${pid}/fdinfo/${fd}`);
    const inode = /^ino:\s*(\d+)$/m.exec(info)?.[1];
    if (inode !== undefined && !byInode.has(BigInt(inode)) && !isWithin(target, root)) return [];
    const stat = statOf(at);
    const flags = Number.parseInt(/^flags:\s*(\d+)$/m.exec(info)?.[1] ?? '0', 8);
    const writes = (flags & ACCESS) !== fs.constants.O_RDONLY;
    const files = (stat && byInode.get(stat.ino)) ?? [];
    return files.filter(({ dev }) => dev === stat?.dev).map(file => ({ file, writes }));
  });
}

const ACCESS = fs.constants.O_WRONLY | fs.constants.O_RDWR;

/** Shared mappings that can be written to. They outlive the descriptor that they were made with. */
function mapped(pid: string, byInode: ReadonlyMap<bigint, readonly SoughtFile[]>): readonly Opened[] {
  const lines = textOf(`/proc/${pid}/maps`).matchAll(/^\S+ .w.s \S+ (\S+) ([1-9]\d*) +(.+)$/gm);
  return [...lines].flatMap(([, device, inode = '0', shown]) => {
    // Some filesystems show another device here than elsewhere.
    const files = byInode.get(BigInt(inode)) ?? [];
    return files
      .filter(({ dev, full }) => device === deviceText(dev) || shown === full)
      .map(file => ({ file, writes: true }));
  });
}

function deviceText(dev: bigint): string {
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn);
  const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn);
  return [major, minor].map(part => part.toString(16).padStart(2, '0')).join(':');
}

/** Leaves out the kernel's threads, and programs of others that we may not look into. */
function visiblePrograms(): readonly string[] {
  const pids = namesIfReadable('/proc').filter(name => /^\d+$/.test(name));
  const own = process.geteuid?.();
  if (own !== 0) return pids.filter(pid => statOf(`/proc/${pid}`)?.uid === BigInt(own ?? 0));
  const kernel = textOf('/proc/2/comm') === 'kthreadd\n' ? textOf('/proc/2/task/2/children').split(' ') : [];
  const threads = new Set(kernel);
  return pids.filter(pid => !threads.has(pid));
}

/** A pipe, a socket or a device is not under a directory. */
function isFilePath(target: string): boolean {
  return target.startsWith('/') && (!target.startsWith('/dev/') || target.startsWith('/dev/shm/'));
}

/** As a person calls it: an interpreter with its script, such as `node server.js`. */
function programOf(pid: string): string {
  const [first = '', script = ''] = textOf(`/proc/${pid}/cmdline`).split('\0');
  const name = path.basename(first) || textOf(`/proc/${pid}/comm`).trim();
  const named = INTERPRETERS.test(name) && script !== '' && !script.startsWith('-') ? [path.basename(script)] : [];
  return [name || 'a program', ...named]
    .join(' ')
    .replaceAll(/\p{Cc}/gu, '')
    .toWellFormed()
    .slice(0, 80);
}

const INTERPRETERS = /^(?:node|bun|deno|python|ruby|perl|php|java|sh|bash)[\d.]*$/;

function linkOf(at: string): string | undefined {
  try {
    return fs.readlinkSync(at);
  } catch {
    return undefined;
  }
}

function textOf(at: string): string {
  try {
    return fs.readFileSync(at, 'utf8');
  } catch {
    return '';
  }
}

function statOf(at: string): fs.BigIntStats | undefined {
  try {
    return fs.statSync(at, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The inodes of files locked by any process of any user. */
export function lockedInodes(): ReadonlySet<bigint> {
  return new Set(
    [...textOf('/proc/locks').matchAll(/ [0-9a-f]+:[0-9a-f]+:(\d+) /g)].map(([, inode]) => BigInt(inode ?? 0)),
  );
}
