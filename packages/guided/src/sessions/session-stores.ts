/**
 * The parts of guided sessions in a data directory: journals, snapshots, pinned workflows, and artifacts in the blobs that all runs share.
 */
import {
  type ContentStore,
  type Disk,
  DiskError,
  type FileLocks,
  hostDisk,
  type IoError,
  ioFailure,
  type Journal,
  type LockError,
  nodeHasher,
  openContentStore,
  openJournal,
  sqliteLocks,
} from '@signalbox/journal';
import {
  type Digest,
  type ErrorEnvelope,
  err,
  ok,
  parsedJson,
  type Result,
  type SessionId,
  sessionId as sessionIdSchema,
  utf8Bytes,
} from '@signalbox/model';
import type { BlobError } from '@signalbox/runs';
import {
  type CompiledWorkflowSnapshotV1,
  compiledWorkflowSnapshotV1,
  type DomainEvent,
  type ExecutionSnapshotFileV1,
  executionSnapshotFileV1,
  sessionEventSchema,
} from '@signalbox/workflow';
import type { GuidedPorts } from '../ports.ts';
import { acquireSweepLock } from '../retention/sweep-lock.ts';
import { notWhatItsNameSays } from './guided-failures.ts';

export interface SessionStoresOptions {
  /** An existing directory. */
  readonly dataDirectory: string;
  readonly ports: Pick<GuidedPorts, 'openBlobs'>;
  readonly disk?: Disk | undefined;
  readonly locks?: FileLocks | undefined;
}

export type StoreError = ErrorEnvelope<'STORE_SNAPSHOT_MISSING' | 'STORE_SNAPSHOT_CORRUPT' | 'STORE_IO_FAILED'>;
export type ArtifactError = StoreError | BlobError;

/** Texts named by their digests, stored before anything refers to them. */
interface SessionContents {
  readonly workflows: readonly string[];
  readonly artifacts: readonly string[];
  readonly snapshots: readonly string[];
}

export interface SessionStores {
  readonly disk: Disk;
  /** In ascending order. Files and links with the name of a session do not count. */
  ids(): Result<readonly SessionId[], IoError>;
  directoryOf(sessionId: SessionId): string;
  /** The journal of a session; `collection` is another directory beside the sessions, for one that is being created. */
  journal(sessionId: SessionId, collection?: string): Journal<DomainEvent>;
  snapshot(ref: Digest): Result<ExecutionSnapshotFileV1, StoreError>;
  workflow(hash: Digest): Result<CompiledWorkflowSnapshotV1, StoreError>;
  artifact(ref: Digest): Result<string, ArtifactError>;
  /** Makes all processes read the stores again. Call it before deleting from them. */
  forget(): void;
  /** Stores texts and then runs the work that refers to them. The texts are on disk before that, and are not collected until it ends. */
  storing<T, E>(
    contents: SessionContents,
    work: () => Promise<Result<T, E>> | Result<T, E>,
  ): Promise<Result<T, E | IoError | LockError>>;
}

export const SESSIONS = 'sessions';

export function openSessionStores({
  dataDirectory,
  ports,
  disk = hostDisk,
  locks = sqliteLocks,
}: SessionStoresOptions): SessionStores {
  const writer = `guided-${process.pid}`;
  const home = dataDirectory;
  const pinnedHome = `${home}/workflows`;
  const openAll = () => ({
    snapshots: openContentStore({ disk, hasher: nodeHasher, home, name: 'snapshots', writer }),
    pinned: openContentStore({ disk, hasher: nodeHasher, home: pinnedHome, name: 'pinned', writer }),
    blobs: ports.openBlobs({ disk, hasher: nodeHasher, home, writer }),
  });
  // A store caches what is on disk; after a sweep some of that is gone.
  let stores = openAll();
  let sweeps = sweepsOf(disk, home);
  const snapshots: ContentStore = {
    putAll: texts => stores.snapshots.putAll(texts),
    get: ref => stores.snapshots.get(ref),
    isDurable: ref => stores.snapshots.isDurable(ref),
  };

  function parsed<T>(from: ContentStore, ref: Digest, parse: (value: unknown) => T | undefined): Result<T, StoreError> {
    const text = from.get(ref);
    if (!text.ok) return text;
    const value = parse(parsedJson(text.value));
    return value === undefined ? err(notWhatItsNameSays(ref)) : ok(value);
  }

  function put({ workflows, artifacts, snapshots: texts }: SessionContents): Result<undefined, IoError> {
    const ready = guardIo('opening the stores', () => {
      const swept = sweepsOf(disk, home);
      if (swept !== sweeps) {
        stores = openAll();
        sweeps = swept;
      }
      if (workflows.length > 0) disk.makeDirectory(pinnedHome);
    });
    if (!ready.ok) return ready;
    const { pinned } = stores;
    for (const store of [
      () => pinned.putAll(workflows),
      () => putArtifacts(artifacts),
      () => snapshots.putAll(texts),
    ]) {
      const stored = store();
      if (!stored.ok) return stored;
    }
    return ok(undefined);
  }

  function putArtifacts(texts: readonly string[]): Result<undefined, IoError> {
    for (const text of texts) {
      const stored = stores.blobs.put(utf8Bytes(text));
      if (!stored.ok) return stored;
    }
    return ok(undefined);
  }

  return {
    disk,

    ids: () =>
      guardIo('listing the sessions', () => {
        if (disk.kind(`${home}/${SESSIONS}`) !== 'directory') return [];
        const ids = disk.list(`${home}/${SESSIONS}`).flatMap(name => {
          const id = sessionIdSchema.safeParse(name);
          return id.success && disk.kind(`${home}/${SESSIONS}/${name}`) === 'directory' ? [id.data] : [];
        });
        return ids.sort();
      }),

    directoryOf: sessionId => `${home}/${SESSIONS}/${sessionId}`,

    journal: (sessionId, collection = SESSIONS) =>
      openJournal({
        disk,
        locks,
        hasher: nodeHasher,
        schema: sessionEventSchema,
        snapshots,
        home,
        collection,
        sessionId,
      }),

    snapshot: ref => parsed(snapshots, ref, value => executionSnapshotFileV1.safeParse(value).data),

    workflow: hash =>
      parsed<CompiledWorkflowSnapshotV1>(
        stores.pinned,
        hash,
        value => compiledWorkflowSnapshotV1.safeParse(value).data,
      ),

    artifact(ref) {
      const bytes = stores.blobs.get(ref);
      if (!bytes.ok) return bytes;
      const text = Buffer.from(bytes.value).toString('utf8');
      return nodeHasher(text) === ref ? ok(text) : err(notWhatItsNameSays(ref));
    },

    forget() {
      const sweeps = disk.open(sweepsFile(home), 'append');
      sweeps.write(Uint8Array.of(0x0a));
      sweeps.sync();
      sweeps.close();
    },

    async storing(contents, work) {
      const lock = await acquireSweepLock(home, 'shared');
      if (!lock.ok) return lock;
      try {
        const stored = put(contents);
        return stored.ok ? await work() : stored;
      } finally {
        lock.value.release();
      }
    },
  };
}

/** Has one byte per sweep. */
const sweepsFile = (home: string) => `${home}/sweeps`;

function sweepsOf(disk: Disk, home: string): number {
  return disk.size(sweepsFile(home)) ?? 0;
}

export function guardIo<T>(doing: string, work: () => T): Result<T, IoError> {
  try {
    return ok(work());
  } catch (cause) {
    if (cause instanceof DiskError) return err(ioFailure(cause, doing));
    throw cause;
  }
}
