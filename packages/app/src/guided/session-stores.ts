/**
 * Where the parts of guided sessions lie in a data directory: journals, snapshots, pinned workflows, and artifacts in the
 * blobs that all runs share.
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
  type Result,
  type SessionId,
  sessionId as sessionIdSchema,
  utf8Bytes,
} from '@signalbox/model';
import { type BlobFiles, openBlobFiles } from '@signalbox/store';
import {
  type CompiledWorkflowSnapshotV1,
  compiledWorkflowSnapshotV1,
  type DomainEvent,
  type ExecutionSnapshotFileV1,
  executionSnapshotFileV1,
  sessionEventSchema,
} from '@signalbox/workflow';
import { notWhatItsNameSays } from './guided-failures.ts';

export interface SessionStoresOptions {
  /** An existing directory. */
  readonly dataDirectory: string;
  readonly disk?: Disk | undefined;
  readonly locks?: FileLocks | undefined;
}

export type StoreError = ErrorEnvelope<'STORE_SNAPSHOT_MISSING' | 'STORE_SNAPSHOT_CORRUPT' | 'STORE_IO_FAILED'>;
export type ArtifactError = StoreError | Extract<ReturnType<BlobFiles['get']>, { ok: false }>['error'];

/** Texts that are named by their digests, and go before what refers to them. */
export interface SessionContents {
  readonly workflows: readonly string[];
  readonly artifacts: readonly string[];
  readonly snapshots: readonly string[];
}

export interface SessionStores {
  readonly disk: Disk;
  /** Of all sessions, in ascending order. */
  ids(): Result<readonly SessionId[], IoError>;
  directoryOf(sessionId: SessionId): string;
  /** The journal of a session; `collection` is another directory beside the sessions, for one that is being made. */
  journal(sessionId: SessionId, collection?: string): Journal<DomainEvent>;
  snapshot(ref: Digest): Result<ExecutionSnapshotFileV1, StoreError>;
  workflow(hash: Digest): Result<CompiledWorkflowSnapshotV1, StoreError>;
  artifact(ref: Digest): Result<string, ArtifactError>;
  /** What this answers is on disk. */
  put(contents: SessionContents): Result<undefined, IoError>;
}

export const SESSIONS = 'sessions';

export function openSessionStores({
  dataDirectory,
  disk = hostDisk,
  locks = sqliteLocks,
}: SessionStoresOptions): SessionStores {
  const writer = `guided-${process.pid}`;
  const home = dataDirectory;
  const pinnedHome = `${home}/workflows`;
  const snapshots = openContentStore({ disk, hasher: nodeHasher, home, name: 'snapshots', writer });
  const pinned = openContentStore({ disk, hasher: nodeHasher, home: pinnedHome, name: 'pinned', writer });
  const blobs = openBlobFiles({ disk, hasher: nodeHasher, home, writer });

  function parsed<T>(from: ContentStore, ref: Digest, parse: (value: unknown) => T | undefined): Result<T, StoreError> {
    const text = from.get(ref);
    if (!text.ok) return text;
    const value = parse(parsedJson(text.value));
    return value === undefined ? err(notWhatItsNameSays(ref)) : ok(value);
  }

  function putArtifacts(texts: readonly string[]): Result<undefined, IoError> {
    for (const text of texts) {
      const stored = blobs.put(utf8Bytes(text));
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
          return id.success ? [id.data] : [];
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
      parsed<CompiledWorkflowSnapshotV1>(pinned, hash, value => compiledWorkflowSnapshotV1.safeParse(value).data),

    artifact(ref) {
      const bytes = blobs.get(ref);
      if (!bytes.ok) return bytes;
      const text = Buffer.from(bytes.value).toString('utf8');
      return nodeHasher(text) === ref ? ok(text) : err(notWhatItsNameSays(ref));
    },

    put({ workflows, artifacts, snapshots: texts }) {
      const made = guardIo('pinning a workflow', () => workflows.length > 0 && disk.makeDirectory(pinnedHome));
      if (!made.ok) return made;
      for (const store of [
        () => pinned.putAll(workflows),
        () => putArtifacts(artifacts),
        () => snapshots.putAll(texts),
      ]) {
        const stored = store();
        if (!stored.ok) return stored;
      }
      return ok(undefined);
    },
  };
}

export function guardIo<T>(doing: string, work: () => T): Result<T, IoError> {
  try {
    return ok(work());
  } catch (cause) {
    if (cause instanceof DiskError) return err(ioFailure(cause, doing));
    throw cause;
  }
}

/** Undefined for what is no JSON: the schema of what is kept there refuses it. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
