/**
 * One session's journal. Everything a process knows about it is in one `Truth`, which reading and appending extend.
 *
 * W1  Only `append` changes a journal, and only with the witness of a lock that is still held.
 * W2  Under the lock the truth is first brought up to date, so an append starts where the last one, of any process, ended.
 * W3  The truth includes an append only after its last sync.
 */
import {
  Bug,
  type Digest,
  type ErrorEnvelope,
  err,
  type Hasher,
  ok,
  type Result,
  type SessionId,
} from '@signalbox/model';
import { type AppendPlan, decidePlan, type PlanError } from './append-plan.ts';
import { writeAppend } from './append-write.ts';
import type { ContentStore } from './content-store.ts';
import { type Defect, healthOf, type SessionHealth } from './defect.ts';
import { type Disk, DiskError } from './disk.ts';
import type { EventSchema, JournalEvent } from './event.ts';
import {
  type HealthError,
  type IoError,
  ioFailure,
  type LockError,
  lockUnusable,
  sessionLocked,
  snapshotNotStored,
  unhealthy,
} from './failures.ts';
import { type JournalView, viewOf } from './journal-view.ts';
import type { FileLocks } from './lock.ts';
import { commit, emptyTruth, MANIFEST, replay, type Truth } from './replay.ts';
import type { SegmentPacking } from './segment-packing.ts';

export interface JournalOptions<E extends JournalEvent> {
  readonly disk: Disk;
  readonly locks: FileLocks;
  readonly hasher: Hasher;
  readonly schema: EventSchema<E>;
  readonly snapshots: ContentStore;
  /** An existing directory; the journal's own is `<home>/<collection>/<sessionId>`. */
  readonly home: string;
  readonly collection: string;
  readonly sessionId: SessionId;
  /** The packing of written segments; reading accepts packed and plain ones. Without it, segments are plain. */
  readonly packing?: SegmentPacking | undefined;
}

export interface Journal<E extends JournalEvent> {
  readonly sessionId: SessionId;
  /** Reads everything that was appended, without the lock. A session without files is empty. */
  read(): Result<JournalView<E>, HealthError | IoError>;
  /** The valid prefix of a journal in any health. */
  salvage(): Result<Salvaged<E>, IoError>;
  /** Runs `work` as the only writer, across all processes, of a healthy journal. */
  withLock<T, F>(
    work: (witness: LockWitness, view: JournalView<E>) => Promise<Result<T, F>> | Result<T, F>,
  ): Promise<Result<T, F | LockError | HealthError | IoError>>;
  append(witness: LockWitness, plan: AppendPlan<E>): Result<Appended<E>, AppendError>;
}

export interface Appended<E extends JournalEvent> {
  /** False if every event was already recorded. */
  readonly isNew: boolean;
  readonly events: readonly E[];
  readonly head: Digest;
}

export type AppendError = PlanError | IoError | ErrorEnvelope<'STORE_SNAPSHOT_MISSING'>;

export interface Salvaged<E extends JournalEvent> {
  readonly health: SessionHealth;
  /** Set if the view is not the whole journal. */
  readonly defect?: Defect;
  readonly view: JournalView<E>;
}

declare const witness: unique symbol;

/** Proof that a session's lock is held. Only `withLock` creates one, and it is void once `withLock` returns. */
export interface LockWitness {
  readonly [witness]: true;
}

export function openJournal<E extends JournalEvent>(options: JournalOptions<E>): Journal<E> {
  const { disk, locks, hasher, schema, snapshots, home, collection, sessionId, packing } = options;
  const directory = `${home}/${collection}/${sessionId}`;
  const manifest = `${directory}/${MANIFEST}`;
  const source = { disk, directory, hasher, schema, packing };
  const truth: Truth<E> = emptyTruth(sessionId, hasher);
  const live = new WeakSet<LockWitness>();

  /** Brings the truth up to date, as far as the files are valid. */
  function refresh(): Defect | undefined {
    const defect = readNew();
    // Without the lock, another process may be replacing a tail.
    return defect === undefined ? undefined : readNew();
  }

  function readNew(): Defect | undefined {
    const size = disk.size(manifest) ?? 0;
    if (size === truth.manifestBytes) return undefined;
    if (size < truth.manifestBytes) {
      const reason = `it has ${size} bytes, ${truth.manifestBytes} were read before`;
      return { code: 'manifest_shrunk', file: MANIFEST, reason };
    }
    const bytes = disk.read(manifest, truth.manifestBytes);
    if (typeof bytes !== 'object') {
      return { code: 'manifest_not_a_file', file: MANIFEST, reason: 'it is not a regular file' };
    }
    // The writer may have stopped between its write and its sync; what is read here is relied on from now on.
    disk.syncFile(manifest);
    return replay(truth, bytes, source).defect;
  }

  function guardIo<T, F>(doing: string, work: () => Result<T, F>): Result<T, F | IoError> {
    try {
      return work();
    } catch (cause) {
      if (cause instanceof DiskError) return err(ioFailure(cause, `${doing} session ${sessionId}`));
      throw cause;
    }
  }

  function readHealthy(): Result<JournalView<E>, HealthError> {
    const defect = refresh();
    return defect === undefined ? ok(viewOf(truth)) : err(unhealthy(sessionId, defect, truth.events.length));
  }

  return {
    sessionId,

    read: () => guardIo('reading', readHealthy),

    salvage: () =>
      guardIo('reading', () => {
        const defect = refresh();
        const health = healthOf(defect, truth.events.length);
        return ok({ health, view: viewOf(truth), ...(defect && { defect }) });
      }),

    async withLock<T, F>(
      work: (witness: LockWitness, view: JournalView<E>) => Promise<Result<T, F>> | Result<T, F>,
    ): Promise<Result<T, F | LockError | HealthError | IoError>> {
      const made = guardIo<undefined, never>('opening', () => {
        if (truth.manifestBytes === 0) {
          disk.makeDirectory(`${home}/${collection}`);
          disk.makeDirectory(directory);
        }
        return ok(undefined);
      });
      if (!made.ok) return made;
      const lock = await locks.acquire(`${directory}/.lock`);
      if (!lock.ok) {
        return err(lock.error.code === 'busy' ? sessionLocked(sessionId) : lockUnusable(sessionId, lock.error.reason));
      }
      const proof = {} as LockWitness;
      try {
        const healthy = guardIo('reading', readHealthy);
        if (!healthy.ok) return healthy;
        live.add(proof);
        return await work(proof, healthy.value);
      } finally {
        live.delete(proof);
        lock.value.release();
      }
    },

    append: (proof, plan) =>
      guardIo<Appended<E>, AppendError>('appending to', () => {
        if (!live.has(proof)) throw new Bug(`append to session ${sessionId} without its lock`);
        const decision = decidePlan(truth, plan, schema, hasher);
        if (!decision.ok) return decision;
        if (decision.value.kind === 'recorded') {
          return ok({ isNew: false, events: decision.value.events, head: truth.chain.headAt(truth.events.length) });
        }
        const { prepared } = decision.value;
        const absent = prepared.newRefs.find(ref => !snapshots.isDurable(ref));
        if (absent !== undefined) return err(snapshotNotStored(sessionId, absent));
        writeAppend(disk, { home, collection, directory, packing }, truth.manifestBytes, prepared);
        commit(truth, prepared.lines, schema);
        truth.records += prepared.recordCount;
        truth.manifestBytes += prepared.manifest.length;
        return ok({
          isNew: true,
          events: prepared.lines.map(line => line.event),
          head: truth.chain.headAt(truth.events.length),
        });
      }),
  };
}
