import { closeSync, lstatSync, openSync, readSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createSecretFilter, type SecretFilter } from '@signalbox/model';
import { sync } from '../backup/copy-tree.ts';
import { namesIn } from '../names-in.ts';
import { bytesFor, contentOf, isPacked } from '../packed-file.ts';
import { macOf, type SharedSecrets } from '../secrets/open-secrets.ts';

/** Searches files for a secret. Done by the writer of journals and logs, which moves none of them meanwhile. */
export interface SecretSearch {
  /** The files below a folder of the data directory that hold it, or may hold it. */
  filesWith(folder: string, secret: SharedSecrets): Promise<readonly SecretFile[]>;
}

export interface SecretFile {
  /** Relative to the data directory. */
  readonly file: string;
  /** Why it could not be read; it may hold the secret. */
  readonly fault?: string;
}

export function secretSearch(dataDirectory: string): SecretSearch {
  return {
    filesWith: async (folder, secret) => {
      const longest = Math.max(...secret.known.map(({ length }) => length));
      return [...filesWith(dataDirectory, folder, onlyThis(secret), longest)];
    },
  };
}

/** A filter for only these secrets. */
export function onlyThis({ key, known }: SharedSecrets): SecretFilter {
  return createSecretFilter({ known, mac: macOf(key), shapes: [] });
}

/** SQLite's files are SQLite's (the search index is deleted instead); keys hold no value, and the owner's file changes. */
const isLeftOut = (relative: string): boolean =>
  /^(db|cache\/search)\.sqlite(-wal|-shm)?$/.test(relative) ||
  /\.lock(-journal|-wal|-shm)?$/.test(relative) ||
  relative === 'keys';

const CHUNK = 1 << 22;

/** No form of the secret is longer than `longest`. */
function* filesWith(
  dataDirectory: string,
  folder: string,
  { has }: Pick<SecretFilter, 'has'>,
  longest: number,
): Generator<SecretFile> {
  for (const name of namesIn(path.join(dataDirectory, folder))) {
    const relative = path.join(folder, name);
    if (isLeftOut(relative)) continue;
    const entry = lstatSync(path.join(dataDirectory, relative), { throwIfNoEntry: false });
    if (entry?.isDirectory() === true) yield* filesWith(dataDirectory, relative, { has }, longest);
    else if (entry?.isFile() === true) {
      const found = looked(path.join(dataDirectory, relative), has, longest);
      if (found !== false) yield { file: relative, ...(found !== true && { fault: found }) };
    }
  }
}

/** Whether a file holds the secret, or why that is unknown. */
function looked(file: string, has: SecretFilter['has'], longest: number): boolean | string {
  try {
    return holds(file, has, longest);
  } catch (thrown) {
    const { code } = thrown as { readonly code?: unknown };
    // It was removed meanwhile.
    if (code === 'ENOENT') return false;
    return typeof code === 'string' ? code : 'it cannot be decompressed';
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

/** Rewrites a log without the secret; the file is complete before and after. */
export function rewriteLog(file: string, { text }: Pick<SecretFilter, 'text'>): void {
  const temporary = `${file}.redacted.tmp`;
  const left = text(Buffer.from(contentOf(file)).toString('latin1'));
  writeFileSync(temporary, bytesFor(file, Buffer.from(left, 'latin1')), { mode: 0o600, flush: true });
  renameSync(temporary, file);
  sync(path.dirname(file));
}
