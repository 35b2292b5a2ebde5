import * as fs from 'node:fs';
import { promisify } from 'node:util';
import { runProgram } from '../programs/run-program.ts';
import { openToLook } from './closed-paths.ts';
import { osPath } from './path-name.ts';
import { named, naming } from './system-reason.ts';

/**
 * Every disk change that undo makes goes through here, so that a test can end the process before or after any of
 * them. Paths are absolute, in the encoding of `path-name.ts`. Each call does one thing and throws the system's error.
 */
export interface HostFiles {
  /** Creates a new file. Its content is not synced yet. */
  create(path: string, mode: number): FileWriter;
  /** Appends to a file, creating it if it does not exist. */
  append(path: string, mode: number): FileWriter;
  /** Truncates a file. */
  truncate(path: string, length: number): void;
  mkdir(path: string, mode: number): void;
  symlink(target: string, path: string): void;
  /** Adds another name (hard link) to a file. */
  link(existing: string, path: string): void;
  /** Renames a file, replacing any existing one. */
  rename(from: string, to: string): void;
  chmod(path: string, mode: number): void;
  chown(path: string, uid: number, gid: number): void;
  /** Sets a file's times to now. The filesystem stamps the change with its own clock. */
  touch(path: string): void;
  unlink(path: string): void;
  rmdir(path: string): void;
  /** Returns once a file's content, or a directory's entries, survive a machine crash. */
  sync(path: string): Promise<void>;
  /** The same for everything on a path's filesystem. Absent if the system cannot do this. */
  syncFilesystem?(path: string): Promise<void>;
  /** The clock with which the file system stamps changes, in milliseconds. */
  now(): number;
}

interface FileWriter {
  write(chunk: Uint8Array): void;
  close(): void;
}

const fsync = promisify(fs.fsync);
const SYNC = '/usr/bin/sync';

export const nodeHostFiles: HostFiles = {
  create: (path, mode) => writerOf(path, fs.openSync(osPath(path), 'wx', mode)),
  append: (path, mode) => writerOf(path, fs.openSync(osPath(path), 'a', mode)),
  truncate: (path, length) => fs.truncateSync(osPath(path), length),
  mkdir: (path, mode) => void fs.mkdirSync(osPath(path), mode),
  symlink: (target, path) => fs.symlinkSync(osPath(target), osPath(path)),
  link: (existing, path) => fs.linkSync(osPath(existing), osPath(path)),
  rename: (from, to) => fs.renameSync(osPath(from), osPath(to)),
  chmod: (path, mode) => fs.chmodSync(osPath(path), mode),
  chown: (path, uid, gid) => fs.lchownSync(osPath(path), uid, gid),
  touch(path) {
    const now = Date.now() / 1000;
    fs.utimesSync(osPath(path), now, now);
  },
  unlink: path => fs.unlinkSync(osPath(path)),
  rmdir: path => fs.rmdirSync(osPath(path)),
  async sync(path) {
    const fd = openToLook(path);
    try {
      await fsync(fd);
    } catch (cause) {
      throw named(path, cause);
    } finally {
      fs.closeSync(fd);
    }
  },
  ...(fs.existsSync(SYNC) && {
    async syncFilesystem(path: string) {
      const { code, said } = await runProgram(SYNC, ['--file-system', String(osPath(path))], { env: {} });
      if (code !== 0) throw new Error(`sync failed: ${said.trim()}`);
    },
  }),
  now: () => Date.now(),
};

function writerOf(path: string, fd: number): FileWriter {
  return {
    write(chunk) {
      naming(path, () => {
        for (let at = 0; at < chunk.length; ) at += fs.writeSync(fd, chunk, at);
      });
    },
    close: () => naming(path, () => fs.closeSync(fd)),
  };
}

/** Syncs many paths until a signal ends it, as many at once as the system can join into one commit. */
export async function syncAll(files: HostFiles, paths: readonly string[], signal?: AbortSignal): Promise<void> {
  let next = 0;
  const worker = async () => {
    for (let path = paths[next++]; path !== undefined; path = paths[next++]) {
      signal?.throwIfAborted();
      await files.sync(path);
    }
  };
  await Promise.all(Array.from({ length: Math.min(16, paths.length) }, worker));
}
