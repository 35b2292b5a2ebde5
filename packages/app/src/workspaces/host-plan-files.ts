import * as fs from 'node:fs';
import path from 'node:path';
import { type FileItem, type FileKind, MAX_FILE_BYTES, type PlanFiles } from '@signalbox/plan';
import { DEFAULT_OPAQUE, forbiddenPlaces, type HostPath, hostPath, openToRead, replaceFile } from '@signalbox/state';
import type { FileWatcher } from './file-watcher.ts';

/** A change so recent that the file system's clock may not distinguish the next one. */
const FRESH_MS = 50;

export interface HostPlanFilesOptions {
  readonly root: string;
  /** Directories that no path may enter. */
  readonly refused: readonly string[];
  readonly watcher?: FileWatcher;
  readonly now: () => number;
}

/** The files under a directory of this machine, for plans. Every path is resolved inside it, symlinks included. */
export function hostPlanFiles({ root, refused, watcher, now }: HostPlanFilesOptions): PlanFiles {
  const opaque = new Set(DEFAULT_OPAQUE);
  const forbidden = forbiddenPlaces(refused);

  function located(name: string, how: { readonly change: boolean }): HostPath {
    const real = fs.realpathSync.native(root);
    const found = hostPath({ root: real, forbidden, opaque }, name, { followLast: true, change: how.change });
    if (!found.ok) throw new Error(found.error.message);
    return found.value;
  }

  return {
    read(name) {
      const at = located(name, { change: false });
      return whereThere(() => {
        if (fs.lstatSync(at.path).isDirectory()) return undefined;
        const file = openToRead(at.path);
        try {
          const stat = fs.fstatSync(file);
          if (stat.size > MAX_FILE_BYTES)
            throw new Error(`it takes ${stat.size} bytes; at most ${MAX_FILE_BYTES} are read`);
          return fs.readFileSync(file);
        } finally {
          fs.closeSync(file);
        }
      });
    },
    list(name) {
      const at = located(name, { change: false });
      const entries = whereThere(() => fs.readdirSync(at.path, { withFileTypes: true }));
      return entries
        ?.map((entry): FileItem => ({ name: entry.name.toWellFormed(), kind: kindOf(entry) }))
        .sort((a, b) => (a.name < b.name ? -1 : 1));
    },
    stat(name) {
      const at = located(name, { change: false });
      const stat = whereThere(() => fs.lstatSync(at.path));
      return stat && { kind: kindOf(stat), bytes: stat.isFile() ? stat.size : 0 };
    },
    write(name, content) {
      const at = located(name, { change: true });
      if (at.parts.length === 0) throw new Error('it is the root');
      fs.mkdirSync(path.dirname(at.path), { recursive: true });
      replaceFile(at.path, content);
    },
    mark(name) {
      let at: HostPath;
      try {
        at = located(name, { change: false });
      } catch {
        return { text: 'refused', isFresh: true };
      }
      const stat = fs.lstatSync(at.path, { bigint: true, throwIfNoEntry: false });
      if (stat === undefined) return { text: 'absent', isFresh: false };
      const { ino, size, mode, mtimeNs, ctimeNs, ctimeMs } = stat;
      return { text: [ino, size, mode, mtimeNs, ctimeNs].join(' '), isFresh: now() - Number(ctimeMs) < FRESH_MS };
    },
    ...(watcher && { watch: (paths, onChange) => watcher.watch(root, paths, onChange) }),
  };
}

function whereThere<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw cause;
  }
}

function kindOf(entry: { isFile(): boolean; isDirectory(): boolean }): FileKind {
  if (entry.isFile()) return 'file';
  return entry.isDirectory() ? 'directory' : 'other';
}
