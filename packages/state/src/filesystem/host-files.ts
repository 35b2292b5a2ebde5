import * as fs from 'node:fs';
import { nameFromBytes, osPath } from './path-name.ts';

/**
 * Every change that undo makes on disk goes through here, so that a test can end the process before or after any of
 * them. Paths are absolute, in the spelling of `path-name.ts`. Each call does one thing and throws the system's error.
 */
export interface HostFiles {
  /** Makes a file that is not there yet. Its content is on the way to the disk, not on it. */
  create(path: string, mode: number): FileWriter;
  mkdir(path: string, mode: number): void;
  symlink(target: string, path: string): void;
  /** Moves a file onto a name, replacing what is there. */
  rename(from: string, to: string): void;
  chmod(path: string, mode: number): void;
  chown(path: string, uid: number, gid: number): void;
  unlink(path: string): void;
  rmdir(path: string): void;
  /** Returns when the content of a file, or the entries of a directory, outlive the machine. */
  sync(path: string): Promise<void>;
  /** The wall clock that the file system stamps changes with, in milliseconds. */
  now(): number;
}

export interface FileWriter {
  write(chunk: Uint8Array): void;
  close(): void;
}

export const nodeHostFiles: HostFiles = {
  create(path, mode) {
    const fd = fs.openSync(osPath(path), 'wx', mode);
    return {
      write(chunk) {
        for (let at = 0; at < chunk.length; ) at += fs.writeSync(fd, chunk, at);
      },
      close: () => fs.closeSync(fd),
    };
  },
  mkdir: (path, mode) => void fs.mkdirSync(osPath(path), mode),
  symlink: (target, path) => fs.symlinkSync(osPath(target), osPath(path)),
  rename: (from, to) => fs.renameSync(osPath(from), osPath(to)),
  chmod: (path, mode) => fs.chmodSync(osPath(path), mode),
  chown: (path, uid, gid) => fs.lchownSync(osPath(path), uid, gid),
  unlink: path => fs.unlinkSync(osPath(path)),
  rmdir: path => fs.rmdirSync(osPath(path)),
  async sync(path) {
    const handle = await fs.promises.open(osPath(path), fs.constants.O_RDONLY);
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  },
  now: () => Date.now(),
};

/** Removes a tree, also one whose directories do not let themselves be written. Nothing there is fine. */
export function removeTree(files: HostFiles, path: string): void {
  const stat = fs.lstatSync(osPath(path), { throwIfNoEntry: false });
  if (stat === undefined) return;
  if (!stat.isDirectory()) {
    files.unlink(path);
    return;
  }
  if ((stat.mode & 0o700) !== 0o700) files.chmod(path, 0o700);
  for (const name of fs.readdirSync(osPath(path), { encoding: 'buffer' })) {
    removeTree(files, `${path}/${nameFromBytes(name)}`);
  }
  files.rmdir(path);
}
