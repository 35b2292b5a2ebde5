import * as fs from 'node:fs';
import { osPath } from '../filesystem/path-name.ts';
import { at, parentOf } from './apply-steps.ts';
import type { Identity } from './layer-change.ts';

/** Looks below a root, also into directories that their owner may not look into: those are open until `close`. */
export interface ClosedDirectories {
  /** What is at a path, with the mode that it had before it was opened. */
  at(path: string): Identity | undefined;
  /** Opens a directory, and those on the way to it. */
  open(path: string): void;
  close(): void;
}

export function lookIntoClosed(root: string): ClosedDirectories {
  const opened = new Map<string, number>();
  const fullOf = (path: string) => (path === '' ? root : `${root}/${path}`);
  const openOne = (path: string) => {
    const there = at(fullOf(path));
    if (there?.kind !== 'directory' || opened.has(path) || (there.mode & 0o500) === 0o500) return;
    fs.chmodSync(osPath(fullOf(path)), there.mode | 0o500);
    opened.set(path, there.mode);
  };
  const open = (path: string) => {
    if (path !== '') open(parentOf(path));
    openOne(path);
  };
  return {
    at(path) {
      const there = found(path);
      const mode = opened.get(path);
      return there === undefined || mode === undefined ? there : { ...there, mode };
    },
    open,
    close() {
      for (const [path, mode] of [...opened].toReversed()) fs.chmodSync(osPath(fullOf(path)), mode);
      opened.clear();
    },
  };

  function found(path: string): Identity | undefined {
    try {
      return at(fullOf(path));
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EACCES') throw cause;
      open(parentOf(path));
      return at(fullOf(path));
    }
  }
}
