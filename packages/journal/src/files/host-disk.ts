import {
  closeSync,
  constants,
  fsyncSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { type Disk, DiskError, type OpenFile } from '../disk.ts';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_TRUNC, O_WRONLY } = constants;
const NO_BYTES = new Uint8Array(0);

/** Error codes of opening or reading a link, a directory, a pipe or a socket. */
const NOT_A_FILE = new Set(['ELOOP', 'EISDIR', 'ESPIPE', 'ENXIO']);

/** The disk of this machine. */
export const hostDisk: Disk = {
  makeDirectory(path) {
    try {
      mkdirSync(path, 0o700);
      return true;
    } catch (cause) {
      if (codeOf(cause) === 'EEXIST') return false;
      throw diskError('mkdir', cause);
    }
  },

  open(path, mode) {
    const flags = O_WRONLY | O_CREAT | O_NOFOLLOW | (mode === 'create' ? O_TRUNC : O_APPEND);
    return openFile(attempt('open', () => openSync(path, flags, 0o600)));
  },

  rename: (from, to) => attempt('rename', () => renameSync(from, to)),

  syncDirectory: path => syncPath('sync directory', path),

  syncFile: path => syncPath('sync', path),

  size(path) {
    return attempt('stat', () => lstatSync(path, { throwIfNoEntry: false })?.size);
  },

  read(path, from = 0) {
    let fd: number;
    try {
      fd = openSync(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    } catch (cause) {
      const code = codeOf(cause);
      if (code === 'ENOENT' || code === 'ENOTDIR') return 'missing';
      if (NOT_A_FILE.has(code)) return 'not_a_file';
      throw diskError('open', cause);
    }
    try {
      return readFrom(fd, from);
    } catch (cause) {
      if (NOT_A_FILE.has(codeOf(cause))) return 'not_a_file';
      throw diskError('read', cause);
    } finally {
      closeSync(fd);
    }
  },

  kind(path) {
    const entry = attempt('stat', () => lstatSync(path, { throwIfNoEntry: false }));
    if (entry === undefined) return 'missing';
    if (entry.isFile()) return 'file';
    return entry.isDirectory() ? 'directory' : 'other';
  },

  list: path => attempt('list', () => readdirSync(path)),
};

function openFile(fd: number): OpenFile {
  return {
    write(bytes) {
      attempt('write', () => {
        for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
      });
    },
    sync: () => attempt('sync', () => fsyncSync(fd)),
    truncate: length => attempt('truncate', () => ftruncateSync(fd, length)),
    close: () => attempt('close', () => closeSync(fd)),
  };
}

/** Most files fit into one chunk, and are read with one call. */
const piece = Buffer.allocUnsafeSlow(64 * 1024);

function readFrom(fd: number, from: number): Uint8Array {
  const pieces: Uint8Array[] = [];
  let position = from;
  for (;;) {
    const count = readSync(fd, piece, 0, piece.length, position);
    // A copy, because the chunk is reused.
    pieces.push(Buffer.from(piece.subarray(0, count)));
    position += count;
    if (count < piece.length) return pieces.length === 1 ? (pieces[0] ?? NO_BYTES) : Buffer.concat(pieces);
  }
}

function syncPath(operation: string, path: string): void {
  attempt(operation, () => {
    const fd = openSync(path, O_RDONLY);
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  });
}

function attempt<T>(operation: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw diskError(operation, cause);
  }
}

function diskError(operation: string, cause: unknown): DiskError {
  return new DiskError(operation, codeOf(cause), cause);
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : 'UNKNOWN';
}
