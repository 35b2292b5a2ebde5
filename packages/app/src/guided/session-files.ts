/**
 * Guided sessions in the files of a data directory: journals, snapshots, pinned workflows, artifacts and the keys of tokens.
 *
 * F1  Whoever holds a reader cannot write: nothing that appends or stores is reachable from it.
 * F2  A writer decides under the lock of its session, on everything that was appended before, by any process; what its
 *     decision refers to is on disk before it is appended, and it is answered after the append is on disk.
 */
import {
  type AppendError,
  type ContentStore,
  type Disk,
  DiskError,
  type FileLocks,
  type HealthError,
  hostDisk,
  type IoError,
  ioFailure,
  type Journal,
  type JournalView,
  type LockError,
  nodeHasher,
  openContentStore,
  openJournal,
  type Salvaged,
  sqliteLocks,
} from '@signalbox/journal';
import {
  type Digest,
  type ErrorEnvelope,
  err,
  type Json,
  json,
  ok,
  type Result,
  type Rng,
  type SessionId,
  sessionId as sessionIdSchema,
} from '@signalbox/model';
import {
  type CompiledWorkflowSnapshotV1,
  compiledWorkflowSnapshotV1,
  type DomainEvent,
  type EngineState,
  executionSnapshotFileV1,
  type KeyringError,
  mintToken,
  nodeMac,
  openKeyringFile,
  readToken,
  type SessionPlan,
  sessionEventSchema,
  type TokenError,
  type TokenKind,
  type TokenOf,
  type TokenPayload,
} from '@signalbox/workflow';
import { notWhatItsNameSays } from './guided-failures.ts';

export type SessionView = JournalView<DomainEvent>;
export type ReadError = HealthError | IoError;
type StoreError = ErrorEnvelope<'STORE_SNAPSHOT_MISSING' | 'STORE_SNAPSHOT_CORRUPT' | 'STORE_IO_FAILED'>;

type WithoutVersion<P> = P extends TokenPayload ? Omit<P, 'tokenVersion'> : never;

/** The tokens of one call: all with the keys as they were when it began. */
export interface Tokens {
  mint(named: WithoutVersion<TokenPayload>): string;
  read<K extends TokenKind>(token: string, expected: K): Result<TokenOf<K>, TokenError>;
}

export interface SessionReader {
  /** The ids of all sessions, in ascending order. */
  sessions(): Result<readonly SessionId[], IoError>;
  view(sessionId: SessionId): Result<SessionView, ReadError>;
  /** Of a session in any health. */
  salvage(sessionId: SessionId): Result<Salvaged<DomainEvent>, IoError>;
  state(snapshotRef: Digest): Result<EngineState, StoreError>;
  workflow(workflowHash: Digest): Result<CompiledWorkflowSnapshotV1, StoreError>;
  artifact(ref: Digest): Result<Json, StoreError>;
  tokens(): Result<Tokens, KeyringError>;
}

/** What one decision stores and appends. */
export interface SessionWrite {
  readonly planned: SessionPlan;
  readonly artifacts?: readonly string[] | undefined;
  readonly workflows?: readonly string[] | undefined;
}

export type WriteError = LockError | ReadError | AppendError | KeyringError;

export interface SessionWriter {
  /** Answers with the session as it is after the write. `decide` gives undefined where all is recorded already. */
  write<F>(
    sessionId: SessionId,
    decide: (view: SessionView) => Result<SessionWrite | undefined, F>,
  ): Promise<Result<SessionView, F | WriteError>>;
}

export interface SessionFilesOptions {
  readonly dataDirectory: string;
  readonly rng: Rng;
  readonly disk?: Disk | undefined;
  readonly locks?: FileLocks | undefined;
}

/** How much of what is read is remembered: journals, snapshots, workflows and artifacts. */
const REMEMBERED = { journals: 256, states: 4_096, workflows: 64, artifacts: 512 } as const;

const COLLECTION = 'sessions';

export function openSessionFiles({ dataDirectory, rng, disk = hostDisk, locks = sqliteLocks }: SessionFilesOptions): {
  readonly reader: SessionReader;
  readonly writer: SessionWriter;
} {
  const writer = `guided-${process.pid}`;
  const store = (home: string, name: string) => openContentStore({ disk, hasher: nodeHasher, home, name, writer });
  const snapshots = store(dataDirectory, 'snapshots');
  const artifacts = store(dataDirectory, 'artifacts');
  const pinnedHome = `${dataDirectory}/workflows`;
  const pinned = store(pinnedHome, 'pinned');
  const keyring = openKeyringFile({ home: dataDirectory, locks, rng });
  const journals = remembering<SessionId, Journal<DomainEvent>>(REMEMBERED.journals);
  const states = remembering<Digest, EngineState>(REMEMBERED.states);
  const workflows = remembering<Digest, CompiledWorkflowSnapshotV1>(REMEMBERED.workflows);
  const values = remembering<Digest, Json>(REMEMBERED.artifacts);

  const open = (sessionId: SessionId) =>
    openJournal({
      disk,
      locks,
      hasher: nodeHasher,
      schema: sessionEventSchema,
      snapshots,
      home: dataDirectory,
      collection: COLLECTION,
      sessionId,
    });
  const journalOf = (sessionId: SessionId) => journals.get(sessionId, () => open(sessionId));

  function read<T>(
    from: ContentStore,
    memory: Memory<Digest, T>,
    ref: Digest,
    parse: (value: unknown) => T | undefined,
  ): Result<T, StoreError> {
    const known = memory.peek(ref);
    if (known !== undefined) return ok(known);
    const text = from.get(ref);
    if (!text.ok) return text;
    const value = parse(parsedJson(text.value));
    return value === undefined ? err(notWhatItsNameSays(ref)) : ok(memory.get(ref, () => value));
  }

  return {
    reader: {
      sessions: () =>
        guardIo('listing the sessions', () => {
          if (disk.kind(`${dataDirectory}/${COLLECTION}`) !== 'directory') return [];
          const ids = disk.list(`${dataDirectory}/${COLLECTION}`).flatMap(name => {
            const id = sessionIdSchema.safeParse(name);
            return id.success ? [id.data] : [];
          });
          return ids.sort();
        }),
      view: sessionId => journalOf(sessionId).read(),
      salvage: sessionId => (journals.peek(sessionId) ?? open(sessionId)).salvage(),
      state: ref =>
        read(snapshots, states, ref, value => executionSnapshotFileV1.safeParse(value).data?.enginePayload.engineState),
      workflow: hash =>
        read<CompiledWorkflowSnapshotV1>(
          pinned,
          workflows,
          hash,
          value => compiledWorkflowSnapshotV1.safeParse(value).data,
        ),
      artifact: ref => read(artifacts, values, ref, value => json.safeParse(value).data),
      tokens() {
        const ring = keyring.load();
        if (!ring.ok) return ring;
        return ok({
          mint: named => mintToken(nodeMac, ring.value, named),
          read: (token, expected) => readToken(nodeMac, ring.value, token, expected),
        });
      },
    },

    writer: {
      write<F>(sessionId: SessionId, decide: (view: SessionView) => Result<SessionWrite | undefined, F>) {
        const journal = journalOf(sessionId);
        return journal.withLock<SessionView, F | ReadError | AppendError>((witness, view) => {
          const decided = decide(view);
          if (!decided.ok || decided.value === undefined) return decided.ok ? ok(view) : decided;
          const { planned, artifacts: texts = [], workflows: compiled = [] } = decided.value;
          const made = guardIo('pinning a workflow', () => compiled.length > 0 && disk.makeDirectory(pinnedHome));
          if (!made.ok) return made;
          const stores = [
            [pinned, compiled],
            [artifacts, texts],
            [snapshots, planned.snapshots],
          ] as const;
          for (const [into, contents] of stores) {
            const stored = into.putAll(contents);
            if (!stored.ok) return stored;
          }
          const appended = journal.append(witness, planned.plan);
          return appended.ok ? journal.read() : appended;
        });
      },
    },
  };
}

function guardIo<T>(doing: string, work: () => T): Result<T, IoError> {
  try {
    return ok(work());
  } catch (cause) {
    if (cause instanceof DiskError) return err(ioFailure(cause, doing));
    throw cause;
  }
}

/** Undefined for what is no JSON: the schema of what is kept there refuses it. */
function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface Memory<K, V> {
  peek(key: K): V | undefined;
  get(key: K, make: () => V): V;
}

/** The last values that were asked for. What is forgotten can be read again. */
function remembering<K, V>(limit: number): Memory<K, V> {
  const values = new Map<K, V>();
  return {
    peek: key => values.get(key),
    get(key, make) {
      const value = values.get(key) ?? make();
      values.delete(key);
      values.set(key, value);
      const oldest = values.keys().next();
      if (values.size > limit && oldest.done === false) values.delete(oldest.value);
      return value;
    },
  };
}
