import {
  type Digest,
  digestHex,
  type ErrorEnvelope,
  err,
  failure,
  type Hasher,
  ok,
  type Result,
  utf8Bytes,
} from '@signalbox/model';
import { type Disk, DiskError } from './disk.ts';
import { placeFile } from './durable-file.ts';
import { ioFailure } from './failures.ts';

/**
 * Immutable texts named by the sha256 of their bytes, one file each.
 *
 * C1  A name appears with its whole content or not at all, and contents are on disk when `putAll` returns.
 * C2  An existing name may not be durable yet: another process may have stopped before it synced the directory. The
 *     directory itself is durable before the first file is written into it.
 */
export interface ContentStore {
  /** Stores texts; existing ones cost nothing. One sync of the directory for all. */
  putAll(texts: readonly string[]): Result<readonly Digest[], ErrorEnvelope<'STORE_IO_FAILED'>>;
  get(
    ref: Digest,
  ): Result<string, ErrorEnvelope<'STORE_SNAPSHOT_MISSING' | 'STORE_SNAPSHOT_CORRUPT' | 'STORE_IO_FAILED'>>;
  /** Whether a content is in the store and on disk. */
  isDurable(ref: Digest): boolean;
}

export interface ContentStoreOptions {
  readonly disk: Disk;
  readonly hasher: Hasher;
  /** An existing directory, and the store's name in it. */
  readonly home: string;
  readonly name: string;
  /** Distinguishes this process's unfinished files from those of others. */
  readonly writer: string;
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function openContentStore({ disk, hasher, home, name, writer }: ContentStoreOptions): ContentStore {
  const directory = `${home}/${name}`;
  const durable = new Set<Digest>();
  let directoryIsDurable = false;

  const fileOf = (ref: Digest) => `${directory}/${digestHex(ref)}.json`;

  function isIntact(ref: Digest): boolean {
    const bytes = disk.read(fileOf(ref));
    return typeof bytes === 'object' && hasher(bytes) === ref;
  }

  function ensureDirectory(): void {
    if (directoryIsDurable) return;
    disk.makeDirectory(directory);
    disk.syncDirectory(home);
    directoryIsDurable = true;
  }

  function write(ref: Digest, bytes: Uint8Array): void {
    const temporary = `${directory}/.${digestHex(ref)}.${writer}.tmp`;
    placeFile(disk, { path: fileOf(ref), temporary }, bytes);
  }

  return {
    putAll(texts) {
      try {
        const refs = texts.map(text => hasher(text));
        const fresh = new Set<Digest>();
        for (const [index, ref] of refs.entries()) {
          if (durable.has(ref) || fresh.has(ref)) continue;
          ensureDirectory();
          if (!isIntact(ref)) write(ref, utf8Bytes(texts[index] ?? ''));
          fresh.add(ref);
        }
        if (fresh.size > 0) disk.syncDirectory(directory);
        for (const ref of fresh) durable.add(ref);
        return ok(refs);
      } catch (cause) {
        if (cause instanceof DiskError) return err(ioFailure(cause, `storing into ${name}`));
        throw cause;
      }
    },

    get(ref) {
      try {
        const bytes = disk.read(fileOf(ref));
        if (typeof bytes !== 'object') return err(snapshotMissing(ref));
        if (hasher(bytes) !== ref) return err(snapshotCorrupt(ref));
        return ok(utf8.decode(bytes));
      } catch (cause) {
        if (cause instanceof DiskError) return err(ioFailure(cause, `reading ${ref}`));
        throw cause;
      }
    },

    isDurable(ref) {
      if (durable.has(ref)) return true;
      if (!isIntact(ref)) return false;
      disk.syncDirectory(directory);
      durable.add(ref);
      return true;
    },
  };
}

function snapshotMissing(ref: Digest) {
  return failure('STORE_SNAPSHOT_MISSING', {
    message: `The snapshot ${ref} is not in the store.`,
    suggestion: 'Restore it from a backup or an export of a session that pins it.',
    details: { ref },
  });
}

function snapshotCorrupt(ref: Digest) {
  return failure('STORE_SNAPSHOT_CORRUPT', {
    message: `The snapshot ${ref} does not match its digest: its file was changed or damaged.`,
    suggestion: 'Restore it from a backup or an export of a session that pins it.',
    details: { ref },
  });
}
