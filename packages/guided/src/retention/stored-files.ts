/** Files of a data directory for collecting: their age, size and removal. */
import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { DiskError, type IoError, ioFailure } from '@signalbox/journal';
import { type Digest, digest, err, ok, type Result } from '@signalbox/model';
import { isSystemError } from '@signalbox/workflow';

export interface StoredFile {
  readonly file: string;
  readonly storedAt: number;
}

export interface StoredContent extends StoredFile {
  readonly ref: Digest;
}

/** The files of a content store: `<sha256>.json`, and unfinished ones of stopped writers. */
export function contentsOf(folder: string): {
  readonly whole: readonly StoredContent[];
  readonly unfinished: readonly StoredFile[];
} {
  const whole: StoredContent[] = [];
  const unfinished: StoredFile[] = [];
  for (const { name } of entriesOf(folder)) {
    const file = path.join(folder, name);
    const storedAt = modifiedAt(file);
    if (storedAt === undefined) continue;
    const ref = digest.safeParse(`sha256:${name.replace(/\.json$/, '')}`);
    if (name.endsWith('.json') && ref.success) whole.push({ ref: ref.data, file, storedAt });
    else if (name.endsWith('.tmp')) unfinished.push({ file, storedAt });
  }
  return { whole, unfinished };
}

/** Empty for a directory that does not exist. */
export function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (cause) {
    if (isSystemError(cause) && (cause.code === 'ENOENT' || cause.code === 'ENOTDIR')) return [];
    throw cause;
  }
}

/** Undefined if the file does not exist. */
export function modifiedAt(file: string): number | undefined {
  return lstatSync(file, { throwIfNoEntry: false })?.mtimeMs;
}

/** The size of a file, or of all files in a directory. */
export function bytesOf(target: string): number {
  const entry = lstatSync(target, { throwIfNoEntry: false });
  if (entry?.isDirectory() !== true) return entry?.size ?? 0;
  return entriesOf(target).reduce((sum, { name }) => sum + bytesOf(path.join(target, name)), 0);
}

/** Turns system errors into the error envelope. */
export function guardFiles<T>(doing: string, work: () => T): Result<T, IoError> {
  try {
    return ok(work());
  } catch (cause) {
    return err(fileFault(doing, cause));
  }
}

export function fileFault(doing: string, cause: unknown): IoError {
  if (cause instanceof DiskError) return ioFailure(cause, doing);
  if (!isSystemError(cause)) throw cause;
  return ioFailure(new DiskError(cause.syscall ?? 'file', cause.code ?? 'unknown', cause), doing);
}
