import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { filesInUse, inUseBy, inUseWords } from '../layers/files-in-use.ts';
import { osPath } from './path-name.ts';
import { naming } from './system-reason.ts';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = fs.constants;

/** The last part of the path is a pipe, a socket, a device or a directory. */
export class NotAFileError extends Error {
  override readonly name = 'NotAFileError';

  constructor() {
    super('it is not a file');
  }
}

/**
 * Opens a regular file to read it and returns the descriptor. Never waits: opening a pipe blocks one of the few threads
 * that serve every file call of the process. A link as the last part of the path is refused.
 */
export function openToRead(path: string): number {
  return openChecked(path, O_RDONLY);
}

/**
 * Creates a file, or replaces its content and keeps its mode. A file with other names (hard links) is replaced by a new file:
 * writing it in place would change what the other names show, which undoing this path would not restore.
 */
export function replaceFile(path: string, content: Uint8Array | string): void {
  const there = fs.lstatSync(osPath(path), { throwIfNoEntry: false });
  if (there?.isFile() && there.nlink > 1) replaceEntry(path, there, content);
  else writeTo(path, openChecked(path, O_WRONLY | O_CREAT, 0o644), content);
}

/**
 * The temporary file next to a path to which the new content of a file with several names is written first. A call that
 * declares the path declares this one too, so that a crash in between leaves nothing behind.
 */
export function replacementOf(path: string): string {
  const cut = path.lastIndexOf('/') + 1;
  const tag = createHash('sha256')
    .update(osPath(path.slice(cut)))
    .digest('hex')
    .slice(0, 16);
  return `${path.slice(0, cut)}.signalbox-write-${tag}`;
}

function replaceEntry(path: string, was: fs.Stats, content: Uint8Array | string): void {
  // A new entry would bypass the file's mode.
  fs.accessSync(osPath(path), fs.constants.W_OK);
  checkNotInUse(path);
  const replacement = replacementOf(path);
  fs.rmSync(osPath(replacement), { force: true });
  try {
    writeTo(replacement, openChecked(replacement, O_WRONLY | O_CREAT | O_EXCL, 0o600), content);
    giveLike(replacement, was);
    fs.renameSync(osPath(replacement), osPath(path));
  } catch (cause) {
    fs.rmSync(osPath(replacement), { force: true });
    throw cause;
  }
}

/** A program that has a file open for writing would keep writing to it after it was replaced or removed. */
export function checkNotInUse(path: string): void {
  const cut = path.lastIndexOf('/');
  const [inUse] = filesInUse(path.slice(0, cut), [path.slice(cut + 1)]);
  if (inUse === undefined) return;
  const words = inUse.path === path.slice(cut + 1) ? inUseBy(inUse, 'it') : inUseWords(inUse);
  throw new Error(`${words}, and later writes would be lost; close it first`);
}

/** What there is no room for is written first: where the disk is full, the file has what it had. */
function writeTo(path: string, fd: number, content: Uint8Array | string): void {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  try {
    naming(path, () => {
      const had = fs.fstatSync(fd).size;
      try {
        writeFrom(fd, bytes, had, bytes.length);
      } catch (cause) {
        fs.ftruncateSync(fd, had);
        throw cause;
      }
      writeFrom(fd, bytes, 0, Math.min(had, bytes.length));
      if (bytes.length < had) fs.ftruncateSync(fd, bytes.length);
    });
  } finally {
    fs.closeSync(fd);
  }
}

/** Writes a part of the content at its position. */
function writeFrom(fd: number, bytes: Uint8Array, from: number, to: number): void {
  for (let at = from; at < to; ) at += fs.writeSync(fd, bytes, at, to - at, at);
}

/** Only root can give files away; otherwise the file becomes ours. */
function giveLike(path: string, { uid, gid, mode }: fs.Stats): void {
  try {
    fs.chownSync(osPath(path), uid, gid);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EPERM') throw cause;
  }
  fs.chmodSync(osPath(path), mode & 0o7777);
}

function openChecked(path: string, flags: number, mode?: number): number {
  // Opening a device can have side effects, so it is checked first; a replacement in between is detected afterwards.
  const there = fs.lstatSync(osPath(path), { throwIfNoEntry: false });
  if (there !== undefined && !there.isFile() && !there.isSymbolicLink()) throw new NotAFileError();
  const fd = fs.openSync(osPath(path), flags | O_NOFOLLOW | O_NONBLOCK, mode);
  if (fs.fstatSync(fd).isFile()) return fd;
  fs.closeSync(fd);
  throw new NotAFileError();
}
