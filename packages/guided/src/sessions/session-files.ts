/**
 * Guided sessions for their use-cases.
 *
 * F1  A reader cannot write: nothing that appends or stores is reachable from it.
 * F2  A writer decides under its session's lock, on everything that any process has appended; content that its decision refers to is on
 *     disk before the append, and it answers after the append is on disk.
 */
import {
  type AppendError,
  type HealthError,
  type IoError,
  type Journal,
  type JournalView,
  type LockError,
  type Salvaged,
  sqliteLocks,
} from '@signalbox/journal';
import {
  type Digest,
  err,
  type Json,
  json,
  ok,
  parsedJson,
  type Result,
  type Rng,
  type SessionId,
} from '@signalbox/model';
import {
  type CompiledWorkflowSnapshotV1,
  type DomainEvent,
  type EngineState,
  type KeyringError,
  mintToken,
  nodeMac,
  openKeyringFile,
  readToken,
  type SessionPlan,
  type TokenError,
  type TokenKind,
  type TokenOf,
  type TokenPayload,
} from '@signalbox/workflow';
import { notWhatItsNameSays } from './guided-failures.ts';
import {
  type ArtifactError,
  openSessionStores,
  type SessionStores,
  type SessionStoresOptions,
  type StoreError,
} from './session-stores.ts';

export type SessionView = JournalView<DomainEvent>;
type ReadError = HealthError | IoError;
type WithoutVersion<P> = P extends TokenPayload ? Omit<P, 'tokenVersion'> : never;

/** The tokens of one call, all with the keys as of its start. */
export interface Tokens {
  mint(named: WithoutVersion<TokenPayload>): string;
  read<K extends TokenKind>(token: string, expected: K): Result<TokenOf<K>, TokenError>;
}

export interface SessionReader {
  /** The ids of all sessions, in ascending order. */
  sessions(): Result<readonly SessionId[], IoError>;
  view(sessionId: SessionId): Result<SessionView, ReadError>;
  /** For a session in any health. */
  salvage(sessionId: SessionId): Result<Salvaged<DomainEvent>, IoError>;
  state(snapshotRef: Digest): Result<EngineState, StoreError>;
  workflow(workflowHash: Digest): Result<CompiledWorkflowSnapshotV1, StoreError>;
  artifact(ref: Digest): Result<Json, ArtifactError>;
  tokens(): Result<Tokens, KeyringError>;
}

/** What one decision stores and appends. */
export interface SessionWrite {
  readonly planned: SessionPlan;
  readonly artifacts?: readonly string[] | undefined;
  readonly workflows?: readonly string[] | undefined;
}

type WriteError = LockError | ReadError | AppendError | KeyringError;

export interface SessionWriter {
  /** Returns the session after the write. `decide` returns undefined if everything is already recorded. */
  write<F>(
    sessionId: SessionId,
    decide: (view: SessionView) => Result<SessionWrite | undefined, F>,
  ): Promise<Result<SessionView, F | WriteError>>;
}

export interface SessionFilesOptions extends SessionStoresOptions {
  readonly rng: Rng;
}

/** How many journals, snapshots, workflows and artifacts are cached. */
const REMEMBERED = { journals: 256, states: 4_096, workflows: 64, artifacts: 512 } as const;

export function openSessionFiles(options: SessionFilesOptions): {
  readonly reader: SessionReader;
  readonly writer: SessionWriter;
  readonly stores: SessionStores;
} {
  const { dataDirectory, rng, locks = sqliteLocks } = options;
  const stores = openSessionStores(options);
  const keyring = openKeyringFile({ home: dataDirectory, locks, rng });
  const journals = remembering<SessionId, Journal<DomainEvent>>(REMEMBERED.journals);
  const states = remembering<Digest, EngineState>(REMEMBERED.states);
  const workflows = remembering<Digest, CompiledWorkflowSnapshotV1>(REMEMBERED.workflows);
  const artifacts = remembering<Digest, Json>(REMEMBERED.artifacts);

  const journalOf = (sessionId: SessionId) => journals.get(sessionId, () => stores.journal(sessionId));

  /** A session without a directory was deleted, so its cached content is not damage. */
  function isDeleted(sessionId: SessionId): boolean {
    if (journals.peek(sessionId) === undefined) return false;
    if (stores.disk.kind(stores.directoryOf(sessionId)) !== 'missing') return false;
    journals.forget(sessionId);
    return true;
  }

  function known<T, E>(memory: Memory<Digest, T>, ref: Digest, read: () => Result<T, E>): Result<T, E> {
    const value = memory.peek(ref);
    if (value !== undefined) return ok(value);
    const found = read();
    return found.ok ? ok(memory.get(ref, () => found.value)) : found;
  }

  return {
    stores,

    reader: {
      sessions: () => stores.ids(),
      view(sessionId) {
        const view = journalOf(sessionId).read();
        return !view.ok && isDeleted(sessionId) ? journalOf(sessionId).read() : view;
      },
      salvage: sessionId => (journals.peek(sessionId) ?? stores.journal(sessionId)).salvage(),
      state: ref =>
        known(states, ref, () => {
          const snapshot = stores.snapshot(ref);
          return snapshot.ok ? ok(snapshot.value.enginePayload.engineState) : snapshot;
        }),
      workflow: hash => known(workflows, hash, () => stores.workflow(hash)),
      artifact: ref =>
        known<Json, ArtifactError>(artifacts, ref, () => {
          const text = stores.artifact(ref);
          if (!text.ok) return text;
          const value = json.safeParse(parsedJson(text.value)).data;
          return value === undefined ? err(notWhatItsNameSays(ref)) : ok(value);
        }),
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
        isDeleted(sessionId);
        const journal = journalOf(sessionId);
        return journal.withLock<SessionView, F | WriteError>((witness, view) => {
          const decided = decide(view);
          if (!decided.ok || decided.value === undefined) return decided.ok ? ok(view) : decided;
          const { planned, artifacts: texts = [], workflows: compiled = [] } = decided.value;
          const contents = { workflows: compiled, artifacts: texts, snapshots: planned.snapshots };
          return stores.storing<SessionView, ReadError | AppendError>(contents, () => {
            const appended = journal.append(witness, planned.plan);
            if (!appended.ok) return appended;
            for (const [ref, state] of planned.states ?? []) states.get(ref, () => state);
            return journal.read();
          });
        });
      },
    },
  };
}

interface Memory<K, V> {
  forget(key: K): void;
  peek(key: K): V | undefined;
  get(key: K, make: () => V): V;
}

/** A cache of the most recently used values, which can be read again. */
function remembering<K, V>(limit: number): Memory<K, V> {
  const values = new Map<K, V>();
  return {
    peek: key => values.get(key),
    forget: key => void values.delete(key),
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
