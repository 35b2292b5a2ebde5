import { closeSync, lstatSync, openSync, readdirSync, readSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { SecretFilter } from '@signalbox/model';
import { sync } from '../backup/copy-tree.ts';
import { bytesFor, contentOf, isPacked } from '../packed-file.ts';

/** Files that SQLite holds are SQLite's; keys hold no value, and whoever owns the directory changes. */
const isLeftOut = (relative: string): boolean =>
  /^db\.sqlite(-wal|-shm)?$/.test(relative) || /\.lock(-journal|-wal|-shm)?$/.test(relative) || relative === 'keys';

const CHUNK = 1 << 22;

/** The files below a folder that hold a secret, relative to the data directory. No form of it is longer than `longest`. */
export function* filesWith(
  dataDirectory: string,
  folder: string,
  { has }: Pick<SecretFilter, 'has'>,
  longest: number,
): Generator<string> {
  for (const name of namesIn(path.join(dataDirectory, folder))) {
    const relative = path.join(folder, name);
    if (isLeftOut(relative)) continue;
    const entry = lstatSync(path.join(dataDirectory, relative), { throwIfNoEntry: false });
    if (entry?.isDirectory() === true) yield* filesWith(dataDirectory, relative, { has }, longest);
    else if (entry?.isFile() === true && holds(path.join(dataDirectory, relative), has, longest)) yield relative;
  }
}

/** Whether a file holds the secret, read a part at a time. Characters are bytes here. */
function holds(file: string, has: SecretFilter['has'], longest: number): boolean {
  if (isPacked(file)) return has(Buffer.from(contentOf(file)).toString('latin1'));
  const handle = openSync(file, 'r');
  try {
    const chunk = Buffer.alloc(CHUNK);
    let before = '';
    for (;;) {
      const read = readSync(handle, chunk, 0, CHUNK, null);
      if (read === 0) return false;
      const text = before + chunk.toString('latin1', 0, read);
      if (has(text)) return true;
      before = text.slice(-longest);
    }
  } finally {
    closeSync(handle);
  }
}

/** Writes a log again without the secret; the file is there whole, before and after. */
export function rewriteLog(file: string, { text }: Pick<SecretFilter, 'text'>): void {
  const temporary = `${file}.redacted.tmp`;
  const left = text(Buffer.from(contentOf(file)).toString('latin1'));
  writeFileSync(temporary, bytesFor(file, Buffer.from(left, 'latin1')), { mode: 0o600, flush: true });
  renameSync(temporary, file);
  sync(path.dirname(file));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
