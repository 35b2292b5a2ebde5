import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { isTooDeep } from './deep-paths.ts';
import type { HostFiles } from './host-files.ts';
import { nameFromBytes, osPath } from './path-name.ts';

/** Removes a tree of ours, also one whose directories do not let themselves be written. Nothing there is fine. */
export function removeTree(files: HostFiles, path: string): void {
  for (const _ of removal(files, path));
}

/**
 * The same, one entry at a time.
 *
 * 1. It may be nested as deeply as it likes: what is too deep is moved to the top, and removed from there.
 * 2. What somebody else removes meanwhile is gone; what is put there meanwhile is removed, too.
 */
export function* removal(files: HostFiles, top: string): Generator<void> {
  const way: Opened[] = [];
  const enter = (path: string): boolean => {
    const stat = fs.lstatSync(osPath(path), { throwIfNoEntry: false });
    if (stat?.isDirectory()) {
      if ((stat.mode & 0o700) !== 0o700) files.chmod(path, 0o700);
      if (way.length > 0 && isTooDeep(path)) files.rename(path, `${top}/${randomUUID()}`);
      else way.push({ path, names: namesIn(path), again: 0 });
    } else if (stat !== undefined) files.unlink(path);
    return stat !== undefined;
  };
  if (enter(top) && way.length === 0) yield;
  for (let at = way.at(-1); at !== undefined; at = way.at(-1)) {
    const name = at.names.shift();
    if (name !== undefined) {
      const before = way.length;
      if (enter(`${at.path}/${name}`) && way.length === before) yield;
    } else if (isEmptied(files, at)) {
      way.pop();
      yield;
    }
  }
}

interface Opened {
  readonly path: string;
  names: string[];
  /** How often it was read again. */
  again: number;
}

const MOST_AGAIN = 1000;

/** Removes a directory whose entries were all removed. False where it has others by now: they are next. */
function isEmptied(files: HostFiles, at: Opened): boolean {
  try {
    files.rmdir(at.path);
    return true;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return true;
    if ((code !== 'ENOTEMPTY' && code !== 'EEXIST') || at.again === MOST_AGAIN) throw cause;
    at.again += 1;
    at.names = namesIn(at.path);
    return false;
  }
}

export function namesIn(directory: string): string[] {
  return fs.readdirSync(osPath(directory), { encoding: 'buffer' }).map(nameFromBytes);
}
