import * as fs from 'node:fs';
import { checkDepth } from './deep-paths.ts';
import { namesIn, statIfThere } from './directory-names.ts';
import { osPath } from './path-name.ts';

/**
 * Reads below a directory, including entries that their owner has closed (`chmod 000`).
 *
 * 1. Everything is shown as it was before it was opened, including its times.
 * 2. A directory stays open until `close`; a file's mode is restored before its descriptor is returned.
 * 3. Entries of other users are not opened: reading them throws the system's error.
 */
export interface ClosedPaths {
  /** A path's absolute location. */
  fullOf(path: string): string;
  stat(path: string): fs.BigIntStats | undefined;
  /** Throws for a directory that is nested too deeply. */
  names(path: string): readonly string[];
  /** Whether a directory can be read. */
  canLook(path: string): boolean;
  /** A descriptor to read a file with. */
  openFile(path: string): number;
  close(): void;
}

export function lookIntoClosed(top: string): ClosedPaths {
  const before = new Map<string, fs.BigIntStats>();
  const closings: (() => void)[] = [];
  const fullOf = (path: string) => (path === '' ? top : `${top}/${path}`);
  /** Opens a directory and its parents. */
  const open = (path: string) => {
    if (path !== '') open(parentOf(path));
    const there = statIfThere(fullOf(path));
    if (there === undefined || before.has(path) || !isClosed(there)) return;
    closings.push(openUp(fullOf(path)));
    before.set(path, there);
  };
  const reach = <T>(directory: string, look: () => T): T => {
    try {
      return look();
    } catch (cause) {
      if (!isRefused(cause)) throw cause;
      open(directory);
      return look();
    }
  };
  const stat = (path: string) => before.get(path) ?? reach(parentOf(path), () => statIfThere(fullOf(path)));
  return {
    fullOf,
    stat,
    canLook(path) {
      try {
        reach(path, () => fs.accessSync(osPath(fullOf(path)), fs.constants.R_OK | fs.constants.X_OK));
        return true;
      } catch {
        return false;
      }
    },
    names(path) {
      checkDepth(fullOf(path));
      return reach(path, () => namesIn(fullOf(path)));
    },
    openFile(path) {
      const there = stat(path);
      if (there !== undefined && isClosed(there)) before.set(path, there);
      return openToLook(fullOf(path), fs.constants.O_NOFOLLOW);
    },
    close() {
      for (const closeOne of closings.splice(0).toReversed()) closeOne();
      before.clear();
    },
  };
}

/** Opens a file or directory to read or sync it. If its owner had closed it, its mode is restored before this returns. */
export function openToLook(full: string, flags = 0): number {
  return whileOpen(full, () => fs.openSync(osPath(full), fs.constants.O_RDONLY | flags));
}

/** Runs an action that needs read access; if refused, runs it again with the path opened. */
export function whileOpen<T>(full: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    const there = isRefused(cause) ? statIfThere(full) : undefined;
    if (there === undefined || !isClosed(there)) throw cause;
    const closeAgain = openUp(full);
    try {
      return work();
    } finally {
      closeAgain();
    }
  }
}

/** Whether its mode keeps its owner from reading it. Nothing keeps root from reading. */
export function isClosed(stat: fs.BigIntStats): boolean {
  const needed = BigInt(neededFor(stat));
  return process.geteuid?.() !== 0 && (stat.mode & needed) !== needed;
}

function neededFor(stat: fs.BigIntStats): number {
  return stat.isDirectory() ? 0o500 : stat.isFile() ? 0o400 : 0;
}

/** Linux's `O_PATH`, which Node does not define: it can hold entries that may not be read. */
export const PATH_ONLY = 0o10000000;

/** Lets the owner read it; returns a function that closes it again, wherever it has moved by then. */
function openUp(full: string): () => void {
  const held =
    process.platform === 'linux' ? fs.openSync(osPath(full), PATH_ONLY | fs.constants.O_NOFOLLOW) : undefined;
  const own = held === undefined ? osPath(full) : `/proc/self/fd/${held}`;
  const letGo = () => held !== undefined && fs.closeSync(held);
  try {
    const stat = fs.statSync(own, { bigint: true });
    const mode = Number(stat.mode) & 0o7777;
    fs.chmodSync(own, mode | neededFor(stat));
    return () => {
      fs.chmodSync(own, mode);
      letGo();
    };
  } catch (cause) {
    letGo();
    throw cause;
  }
}

function isRefused(cause: unknown): boolean {
  return (cause as NodeJS.ErrnoException).code === 'EACCES';
}

export function parentOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
}
