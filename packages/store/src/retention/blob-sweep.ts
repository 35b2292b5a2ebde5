import { lstatSync, readdirSync, readFileSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { isBlobName, namesInText } from './blob-names.ts';

/** Files under `blobs/` that nothing refers to. */
export interface BlobFile {
  readonly path: string;
  /** 64 hex digits; absent for the remains of an interrupted write. */
  readonly name?: string;
  readonly bytes: number;
}

/** A younger blob may belong to a commit in progress (T5). */
const YOUNG_MS = 3_600_000;

/** Blobs old enough to be collected if unreferenced, and the remains of interrupted writes. */
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

/** Adds the references of live blobs, such as a directory manifest's files. */
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

/** Removes a blob, unless it was put again in the meantime. */
export function removeBlob({ path: file }: BlobFile, nowMs: number): boolean {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (stat === undefined || nowMs - stat.mtimeMs < YOUNG_MS) return false;
  unlinkSync(file);
  return true;
}

function referencesIn(file: string): Iterable<string> {
  const bytes = read(file);
  // Only JSON refers to other blobs.
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
