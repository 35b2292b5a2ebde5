/**
 * Deletes what is past its retention time, and then what nothing needs.
 *
 * G1  Sessions first, then snapshots, pinned workflows and blobs; never in another order.
 * G2  If any journal, of a session or of a run, cannot be trusted, nothing is deleted.
 * G3  A session is deleted as a whole, by one move, under its lock, if it is still past its time. A directory moved by a killed collection
 *     is not a session; the next collection removes it.
 */
import { rmSync } from 'node:fs';
import path from 'node:path';
import {
  type Clock,
  type Digest,
  type ErrorEnvelope,
  err,
  ok,
  type Result,
  type SessionId,
  type Timestamp,
  timestampOf,
} from '@signalbox/model';
import { decideRetention, decideSnapshotCollection, retentionDefaults } from '@signalbox/workflow';
import { leftByImports } from '../bundles/session-import.ts';
import { isKept } from '../sessions/session-keeping.ts';
import { guardIo, SESSIONS } from '../sessions/session-stores.ts';
import {
  lastActive,
  openRetainedJournals,
  type RetainedJournals,
  type RetainedJournalsOptions,
  type Untrusted,
} from './retained-journals.ts';
import { bytesOf, contentsOf, entriesOf, fileFault, guardFiles } from './stored-files.ts';
import { acquireSweepLock } from './sweep-lock.ts';

export interface CollectOptions extends RetainedJournalsOptions {
  readonly clock: Clock;
  /** Only report what would be deleted. */
  readonly dryRun: boolean;
  /** How long a session is kept after its last write; 90 days by default. */
  readonly ttlMs?: number | undefined;
  /**
   * Collects blobs, which sessions share with runs, while no session is written. `needed` are those of the remaining sessions. Called last,
   * also in a dry run, and not if nothing may be deleted.
   */
  readonly sweepBlobs?: ((needed: ReadonlySet<Digest>) => void | Promise<void>) | undefined;
  /** Removes a file or a directory with its content. */
  readonly remove?: ((path: string) => void) | undefined;
}

type KeptBecause = 'kept' | 'not_healthy' | 'active' | 'locked' | 'nothing_is_deleted';

interface Collected {
  readonly count: number;
  readonly bytes: number;
}

export interface SessionCollection {
  readonly isDryRun: boolean;
  /** Why nothing was deleted, if nothing was. */
  readonly untrusted: readonly Untrusted[];
  /** What was deleted, or would be. */
  readonly expired: readonly ExpiredSession[];
  readonly retained: readonly { readonly sessionId: SessionId; readonly because: KeptBecause }[];
  readonly snapshots: Collected;
  readonly workflows: Collected;
  /** The remains of killed collections and imports. */
  readonly leftovers: Collected;
  readonly bytes: number;
}

interface ExpiredSession {
  readonly sessionId: SessionId;
  readonly bytes: number;
  readonly lastActiveAt: Timestamp;
}

const DELETED = '.deleted-';
const NOTHING: Collected = { count: 0, bytes: 0 };

export async function collectSessions(options: CollectOptions): Promise<Result<SessionCollection, ErrorEnvelope>> {
  const { clock, dryRun, ttlMs = retentionDefaults.ttlMs } = options;
  const journals = openRetainedJournals(options);
  const found = journals.read();
  if (!found.ok) return found;
  const { sessions, untrusted } = found.value;
  const decided = decideRetention(sessions, clock.now(), ttlMs);
  const retained: SessionCollection['retained'][number][] = [...decided.retained];
  const expired: ExpiredSession[] = [];
  const answer = (rest: Pick<SessionCollection, 'untrusted' | 'snapshots' | 'workflows' | 'leftovers'>) => {
    const parts = [...expired, rest.snapshots, rest.workflows, rest.leftovers];
    const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
    retained.sort((left, right) => (left.sessionId < right.sessionId ? -1 : 1));
    return ok({ isDryRun: dryRun, expired, retained, bytes, ...rest });
  };
  if (untrusted.length > 0) {
    retained.push(...decided.expired.map(sessionId => ({ sessionId, because: 'nothing_is_deleted' as const })));
    return answer({ untrusted, snapshots: NOTHING, workflows: NOTHING, leftovers: NOTHING });
  }

  const leftovers = guardFiles('removing remains', () =>
    removeAll([...leftByImports(options), ...leftByCollections(options)], options),
  );
  if (!leftovers.ok) return leftovers;
  for (const sessionId of decided.expired) {
    const at = sessions.find(session => session.sessionId === sessionId)?.lastActiveAt ?? 0;
    const bytes = guardFiles('measuring a session', () => bytesOf(journals.stores.directoryOf(sessionId)));
    if (!bytes.ok) return bytes;
    const stays = dryRun ? ok(undefined) : await deleteSession(options, journals, sessionId, at);
    if (!stays.ok) return stays;
    if (stays.value !== undefined) retained.push({ sessionId, because: stays.value });
    else expired.push({ sessionId, bytes: bytes.value, lastActiveAt: timestampOf({ now: () => at }) });
  }
  const swept = await sweep(options, journals, new Set(expired.map(({ sessionId }) => sessionId)));
  return swept.ok ? answer({ ...swept.value, leftovers: leftovers.value }) : swept;
}

/** Undefined if the session is gone; otherwise why it stays. */
async function deleteSession(
  options: CollectOptions,
  { stores, journal }: RetainedJournals,
  sessionId: SessionId,
  wasActiveAt: number,
): Promise<Result<KeptBecause | undefined, ErrorEnvelope>> {
  const from = stores.directoryOf(sessionId);
  const to = path.join(path.dirname(from), `${DELETED}${sessionId}`);
  const moved = await journal(sessionId).withLock<KeptBecause | undefined, ErrorEnvelope>(() => {
    if (isKept(stores, sessionId)) return ok('kept');
    if (lastActive(stores, sessionId) !== wasActiveAt) return ok('active');
    return guardIo(`deleting session ${sessionId}`, () => {
      stores.disk.rename(from, to);
      stores.disk.syncDirectory(path.dirname(from));
      return undefined;
    });
  });
  if (!moved.ok && (moved.error.code === 'SESSION_LOCKED' || stores.disk.kind(from) === 'missing')) return ok('locked');
  if (!moved.ok || moved.value !== undefined) return moved;
  return guardFiles(`deleting session ${sessionId}`, () => {
    removeAll([to], options);
    return undefined;
  });
}

/** Deletes what the remaining sessions and runs do not need, while nobody writes. */
async function sweep(
  options: CollectOptions,
  journals: RetainedJournals,
  expired: ReadonlySet<SessionId>,
): Promise<Result<Pick<SessionCollection, 'snapshots' | 'workflows' | 'untrusted'>, ErrorEnvelope>> {
  const { dataDirectory, clock, dryRun, sweepBlobs } = options;
  const lock = dryRun ? undefined : await acquireSweepLock(dataDirectory, 'exclusive');
  if (lock?.ok === false) return lock;
  try {
    const found = journals.read();
    if (!found.ok) return found;
    const { untrusted } = found.value;
    if (untrusted.length > 0) return ok({ snapshots: NOTHING, workflows: NOTHING, untrusted });
    // A dry run leaves expired sessions in place, and judges as if they were deleted.
    const needs = journals.needs(expired);
    const snapshots = unneeded(path.join(dataDirectory, 'snapshots'), needs.snapshots, clock);
    const workflows = unneeded(path.join(dataDirectory, 'workflows/pinned'), needs.workflows, clock);
    const isSweep = snapshots.length + workflows.length > 0 || sweepBlobs !== undefined;
    // First, so that no writer relies on its cached view of a store that a killed sweep had started on.
    if (isSweep && !dryRun) journals.stores.forget();
    const swept = { snapshots: removeAll(snapshots, options), workflows: removeAll(workflows, options), untrusted };
    await sweepBlobs?.(needs.blobs);
    return ok(swept);
  } catch (cause) {
    return err(fileFault('deleting what no session needs', cause));
  } finally {
    if (lock?.ok === true) lock.value.release();
  }
}

/** The files of a store that are neither needed nor young. */
function unneeded(folder: string, needed: ReadonlySet<Digest>, clock: Clock): readonly string[] {
  const { whole, unfinished } = contentsOf(folder);
  const now = clock.now();
  const judged = decideSnapshotCollection(
    [{ sessionId: '' as SessionId, health: 'healthy', pins: [...needed] }],
    whole,
    now,
  );
  const refs = new Set(judged.mode === 'sweep' ? judged.unreachable : []);
  const left = unfinished.filter(({ storedAt }) => now - storedAt >= retentionDefaults.snapshotMinAgeMs);
  return [...whole.filter(({ ref }) => refs.has(ref)), ...left].map(({ file }) => file);
}

function leftByCollections({ dataDirectory }: CollectOptions): readonly string[] {
  const sessions = path.join(dataDirectory, SESSIONS);
  return entriesOf(sessions)
    .filter(({ name }) => name.startsWith(DELETED))
    .map(({ name }) => path.join(sessions, name));
}

function removeAll(targets: readonly string[], { dryRun, remove = forGood }: CollectOptions): Collected {
  let bytes = 0;
  for (const target of targets) {
    bytes += bytesOf(target);
    if (!dryRun) remove(target);
  }
  return { count: targets.length, bytes };
}

function forGood(target: string): void {
  rmSync(target, { recursive: true, force: true });
}
