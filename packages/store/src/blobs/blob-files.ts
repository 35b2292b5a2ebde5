import { utimesSync } from 'node:fs';
import { type Disk, DiskError, hostDisk, ioFailure, placeFile } from '@signalbox/journal';
import {
  type Digest,
  digestHex,
  type ErrorEnvelope,
  err,
  failure,
  type Hasher,
  ok,
  type Result,
} from '@signalbox/model';
import type { BlobError } from '@signalbox/runs';

/**
 * Contents named by their sha256, one file each, under `blobs/<aa>/<sha256>`.
 *
 * B1  A name appears with its complete content or not at all; once `put` returns, the content is on disk.
 * B2  An existing file may not be durable yet: its writer may have stopped before syncing the directory.
 * B3  Putting a blob again makes it young again: collection, in any process, spares it until a commit can refer to it.
 */
export interface BlobFiles {
  put(content: Uint8Array): Result<Digest, ErrorEnvelope<'STORE_IO_FAILED'>>;
  get(name: Digest): Result<Uint8Array, BlobError>;
  /** Call after the file was removed. */
  forget(name: Digest): void;
}

export interface BlobFilesOptions {
  readonly disk: Disk;
  readonly hasher: Hasher;
  /** The data directory; it must exist. */
  readonly home: string;
  /** Distinguishes this process's unfinished files from those of others. */
  readonly writer: string;
}

/** How many names known to be on disk are cached. */
const MAX_REMEMBERED = 10_000;

export function openBlobFiles({ disk, hasher, home, writer }: BlobFilesOptions): BlobFiles {
  const root = `${home}/blobs`;
  const durable = new Set<Digest>();
  const directories = new Set<string>();

  const directoryOf = (name: Digest) => `${root}/${digestHex(name).slice(0, 2)}`;
  const fileOf = (name: Digest) => `${directoryOf(name)}/${digestHex(name)}`;

  function ensureDirectory(path: string, parent: string): void {
    if (directories.has(path)) return;
    disk.makeDirectory(path);
    disk.syncDirectory(parent);
    directories.add(path);
  }

  function write(name: Digest, content: Uint8Array): void {
    const temporary = `${directoryOf(name)}/.${digestHex(name)}.${writer}.tmp`;
    placeFile(disk, { path: fileOf(name), temporary }, content);
  }

  function isIntact(name: Digest): boolean {
    const bytes = disk.read(fileOf(name));
    return typeof bytes === 'object' && hasher(bytes) === name;
  }

  /** Returns false if the file does not exist. Only the host's disk has collection. */
  function makeYoung(name: Digest): boolean {
    if (disk !== hostDisk) return true;
    try {
      const now = new Date();
      utimesSync(fileOf(name), now, now);
      return true;
    } catch {
      return false;
    }
  }

  return {
    put(content) {
      const name = hasher(content);
      if (durable.has(name) && makeYoung(name)) return ok(name);
      try {
        ensureDirectory(root, home);
        ensureDirectory(directoryOf(name), root);
        if (!isIntact(name) || !makeYoung(name)) write(name, content);
        disk.syncDirectory(directoryOf(name));
      } catch (cause) {
        if (cause instanceof DiskError) return err(ioFailure(cause, `writing blob ${name}`));
        throw cause;
      }
      if (durable.size >= MAX_REMEMBERED) durable.clear();
      durable.add(name);
      return ok(name);
    },

    forget: name => void durable.delete(name),

    get(name) {
      try {
        const bytes = disk.read(fileOf(name));
        if (typeof bytes !== 'object') return err(missing(name));
        return hasher(bytes) === name ? ok(bytes) : err(corrupt(name));
      } catch (cause) {
        if (cause instanceof DiskError) return err(ioFailure(cause, `reading blob ${name}`));
        throw cause;
      }
    },
  };
}

function missing(name: Digest): BlobError {
  return failure('store/blob-missing', {
    message: `Blob ${name} is not in the store.`,
    suggestion: 'Restore it from a backup or an export of a run that refers to it.',
    details: { name },
  });
}

function corrupt(name: Digest): BlobError {
  return failure('store/blob-corrupt', {
    message: `Blob ${name} does not match its digest: its file was changed or damaged.`,
    suggestion: 'Restore it from a backup or an export of a run that refers to it.',
    details: { name },
  });
}
