import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { makePrivateDirectory } from '../private-directory.ts';

/** SQLite's files are copied by SQLite; locks and unfinished files are skipped. */
const isLeftOut = (name: string): boolean =>
  /^db\.sqlite/.test(name) ||
  /\.lock(-journal|-wal|-shm)?$/.test(name) ||
  name === 'owner.json' ||
  name.endsWith('.tmp');

/** The kernel's own directory below a mounted layer, which not even its owner can read. */
const isKernels = (directory: string, name: string): boolean =>
  name === 'work' && path.basename(path.dirname(directory)) === 'layers';

/** Agents' programs, which can be installed again, the homes of those that run, and the space in reserve. */
const NOT_COPIED = ['agents', 'agent-homes', 'reserve'];

/** Holds lower bounds of the journals' lengths, so it is copied before them. */
const FIRST = ['cache'];

/** Referenced content comes last, so that everything copied before finds it. */
const LAST = ['snapshots', 'blobs'];

export interface Copied {
  readonly files: number;
  readonly bytes: number;
  /** Paths of links, devices, pipes and sockets, which are not copied. */
  readonly leftOut: readonly string[];
}

/** Copies everything in a data directory besides its database, durably, into a directory of the same shape. */
export function copyTree(from: string, to: string): Copied {
  const names = readdirSync(from).filter(name => !isLeftOut(name) && !NOT_COPIED.includes(name));
  const [first, last] = [FIRST, LAST].map(some => some.filter(name => names.includes(name))) as [string[], string[]];
  const ordered = [...first, ...names.filter(name => !first.includes(name) && !last.includes(name)), ...last];
  return summed(ordered.map(name => copyEntry(path.join(from, name), path.join(to, name), name === 'layers')));
}

/** A layer holds project files, which keep their executable bits. Everything else is only readable and writable. */
function copyEntry(from: string, to: string, isOnLayer: boolean): Copied {
  const entry = lstatSync(from, { throwIfNoEntry: false });
  if (entry === undefined) return { files: 0, bytes: 0, leftOut: [] };
  // A link leads out of the directory, and a pipe has no content to keep.
  if (!(entry.isFile() || entry.isDirectory())) return { files: 0, bytes: 0, leftOut: [from] };
  if (entry.isFile()) return copyFile(from, to, isOnLayer ? (entry.mode & 0o700) | 0o600 : 0o600);
  makePrivateDirectory(to);
  const names = readdirSync(from).filter(name => !isLeftOut(name) && !isKernels(from, name));
  // Files before folders: the manifest of a journal before the segments that it names.
  const folders = names.filter(
    name => lstatSync(path.join(from, name), { throwIfNoEntry: false })?.isDirectory() === true,
  );
  const ordered = [...names.filter(name => !folders.includes(name)), ...folders];
  const copied = summed(ordered.map(name => copyEntry(path.join(from, name), path.join(to, name), isOnLayer)));
  sync(to);
  return copied;
}

function copyFile(from: string, to: string, mode: number): Copied {
  copyFileSync(from, to);
  chmodSync(to, mode);
  if (path.basename(to) === 'manifest.jsonl') cutPartialLine(to);
  sync(to);
  return { files: 1, bytes: lstatSync(to).size, leftOut: [] };
}

/** Removes a partially written last line from the copy. */
function cutPartialLine(file: string): void {
  const content = readFileSync(file);
  const end = content.lastIndexOf(0x0a) + 1;
  if (end < content.length) writeFileSync(file, content.subarray(0, end));
}

export function sync(place: string): void {
  if (!existsSync(place)) return;
  const handle = openSync(place, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

function summed(parts: readonly Copied[]): Copied {
  return {
    files: parts.reduce((sum, { files }) => sum + files, 0),
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    leftOut: parts.flatMap(({ leftOut }) => leftOut),
  };
}
