import path from 'node:path';
import type { Journal, SessionHealth } from '@signalbox/journal';
import { type Digest, type ErrorEnvelope, ok, type Result, type SessionId } from '@signalbox/model';
import {
  artifactRefsOf,
  type DomainEvent,
  readManifest,
  type StoredSession,
  workflowHashesOf,
} from '@signalbox/workflow';
import type { GuidedPorts } from '../ports.ts';
import { isKept } from '../sessions/session-keeping.ts';
import {
  openSessionStores,
  SESSIONS,
  type SessionStores,
  type SessionStoresOptions,
} from '../sessions/session-stores.ts';
import { entriesOf, modifiedAt } from './stored-files.ts';

/** A journal whose needs cannot be determined. */
export interface Untrusted {
  /** Its directory, relative to the data directory. */
  readonly journal: string;
  readonly health: SessionHealth;
}

/** All journals of a data directory, and the stored content that they need. Reading again reads only what is new. */
export interface RetainedJournals {
  readonly stores: SessionStores;
  journal(sessionId: SessionId): Journal<DomainEvent>;
  read(): Result<
    { readonly sessions: readonly StoredSession[]; readonly untrusted: readonly Untrusted[] },
    ErrorEnvelope
  >;
  /** The needs of all sessions except some, as last read. */
  needs(without: ReadonlySet<SessionId>): Needs;
}

interface Needs {
  readonly snapshots: ReadonlySet<Digest>;
  readonly workflows: ReadonlySet<Digest>;
  readonly blobs: ReadonlySet<Digest>;
}

export interface RetainedJournalsOptions extends SessionStoresOptions {
  readonly ports: Pick<GuidedPorts, 'openBlobs' | 'journalHealth'>;
}

export function openRetainedJournals(options: RetainedJournalsOptions): RetainedJournals {
  const { dataDirectory, ports } = options;
  const stores = openSessionStores(options);
  const journals = new Map<SessionId, Journal<DomainEvent>>();

  /** Journals of runs pin snapshots in the same store. */
  const runs = () =>
    entriesOf(path.join(dataDirectory, 'runs'))
      .map(({ name }) => `runs/${name}`)
      .filter(name => modifiedAt(path.join(dataDirectory, name, 'manifest.jsonl')) !== undefined);

  const pinsIn = (directory: string, events: number) =>
    readManifest(stores.disk, directory, events).flatMap(record =>
      record.kind === 'snapshot_pinned' ? [record.snapshotRef] : [],
    );

  const verified = new Map<string, { readonly writtenAt: number | undefined; readonly health: SessionHealth }>();

  /** A journal that was not written since it was verified is not verified again: nobody may write during a collection. */
  function healthOfRun(name: string): SessionHealth {
    const directory = path.join(dataDirectory, name);
    const writtenAt = modifiedAt(path.join(directory, 'manifest.jsonl'));
    const known = verified.get(name);
    if (known !== undefined && known.writtenAt === writtenAt) return known.health;
    const health = ports.journalHealth(directory);
    verified.set(name, { writtenAt, health });
    return health;
  }

  function journal(sessionId: SessionId): Journal<DomainEvent> {
    const known = journals.get(sessionId) ?? stores.journal(sessionId);
    journals.set(sessionId, known);
    return known;
  }

  return {
    stores,
    journal,

    read() {
      const ids = stores.ids();
      if (!ids.ok) return ids;
      const there = new Set(ids.value);
      for (const sessionId of journals.keys()) if (!there.has(sessionId)) journals.delete(sessionId);
      const sessions: StoredSession[] = [];
      const untrusted: Untrusted[] = [];
      for (const sessionId of ids.value) {
        const read = journal(sessionId).salvage();
        if (!read.ok) return read;
        const { health } = read.value;
        if (health !== 'healthy') untrusted.push({ journal: `${SESSIONS}/${sessionId}`, health });
        const lastActiveAt = lastActive(stores, sessionId);
        sessions.push({ sessionId, health, lastActiveAt, isKept: isKept(stores, sessionId) });
      }
      for (const name of runs()) {
        const health = healthOfRun(name);
        if (health !== 'healthy') untrusted.push({ journal: name, health });
      }
      return ok({ sessions, untrusted });
    },

    needs(without) {
      const snapshots = new Set<Digest>();
      const workflows = new Set<Digest>();
      const blobs = new Set<Digest>();
      for (const [sessionId, known] of journals) {
        const read = known.salvage();
        if (without.has(sessionId) || !read.ok) continue;
        const events = read.value.view.events();
        for (const ref of pinsIn(stores.directoryOf(sessionId), events.length)) snapshots.add(ref);
        for (const hash of workflowHashesOf(events)) workflows.add(hash);
        for (const ref of artifactRefsOf(events)) blobs.add(ref);
      }
      for (const name of runs()) {
        for (const ref of pinsIn(path.join(dataDirectory, name), Number.POSITIVE_INFINITY)) snapshots.add(ref);
      }
      return { snapshots, workflows, blobs };
    },
  };
}

/** When a session was last written. */
export function lastActive({ directoryOf }: SessionStores, sessionId: SessionId): number {
  const directory = directoryOf(sessionId);
  return modifiedAt(`${directory}/manifest.jsonl`) ?? modifiedAt(directory) ?? 0;
}
