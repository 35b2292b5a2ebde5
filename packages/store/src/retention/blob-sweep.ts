import { lstatSync, readdirSync, readFileSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { isBlobName, namesInText } from './blob-names.ts';

/** Files under `blobs/` that nothing refers to. */
export interface BlobFile {
  readonly path: string;
  /** 64 hex digits; absent where it is the rest of a write that was cut off. */
  readonly name?: string;
  readonly bytes: number;
}

/** What is younger may be referred to by a commit that is on its way (T5). */
const YOUNG_MS = 3_600_000;

/** Blobs that are old enough to be collected if nothing refers to them, and what was left of writes that were cut off. */
export function oldBlobs(home: string, nowMs: number): readonly BlobFile[] {
  const root = path.join(home, 'blobs');
  return entriesOf(root)
    .filter(folder => /^[0-9a-f]{2}$/.test(folder))
    .flatMap(folder => entriesOf(path.join(root, folder)).map(name => ({ name, path: path.join(root, folder, name) })))
    .flatMap(({ name, path: file }): readonly BlobFile[] => {
      const stat = lstatSync(file, { throwIfNoEntry: false });
      if (stat === undefined || !stat.isFile() || nowMs - stat.mtimeMs < YOUNG_MS) return [];
      if (isBlobName(name)) return [{ path: file, name, bytes: stat.size }];
      return name.endsWith('.tmp') ? [{ path: file, bytes: stat.size }] : [];
    });
}

/** Adds what the live blobs refer to themselves, as the manifest of a directory does to its files. */
export function addReferences(home: string, live: Set<string>): void {
  const waiting = [...live];
  for (const name of waiting) {
    for (const found of referencesIn(path.join(home, 'blobs', name.slice(0, 2), name))) {
      if (live.has(found)) continue;
      live.add(found);
      waiting.push(found);
    }
  }
}

/** Removes a blob, unless somebody has put it again since it was looked at. */
export function removeBlob({ path: file }: BlobFile, nowMs: number): boolean {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined || nowMs - stat.mtimeMs < YOUNG_MS) return false;
  unlinkSync(file);
  return true;
}

function referencesIn(file: string): Iterable<string> {
  const bytes = read(file);
  // Only what is JSON refers to others.
  return bytes !== undefined && (bytes[0] === 0x7b || bytes[0] === 0x5b) ? namesInText(bytes.toString('latin1')) : [];
}

function read(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}

function entriesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
