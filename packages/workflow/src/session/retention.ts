import type { Digest, SessionId } from '@signalbox/model';
import type { SessionHealth } from '../projections/session-gate.ts';

/**
 * What may be deleted. Sessions first, then the snapshots that no remaining session pins; never the other way round.
 *
 * G1  A session that is kept, is not healthy, or has not expired stays.
 * G2  Only the pins of all remaining sessions decide about snapshots. If one of those sessions cannot be trusted, nothing is
 *     deleted.
 * G3  A recent snapshot stays: its append may be under way.
 */

const DAY_MS = 24 * 60 * 60 * 1000;

export const retentionDefaults = { ttlMs: 90 * DAY_MS, snapshotMinAgeMs: 60 * 60 * 1000 } as const;

export interface StoredSession {
  readonly sessionId: SessionId;
  readonly health: SessionHealth;
  readonly lastActiveAt: number;
  /** Set by a person: never deleted for its age. */
  readonly isKept: boolean;
}

export interface RetentionDecision {
  readonly expired: readonly SessionId[];
  readonly retained: readonly { readonly sessionId: SessionId; readonly because: RetainReason }[];
}

type RetainReason = 'kept' | 'not_healthy' | 'active';

export function decideRetention(
  sessions: readonly StoredSession[],
  now: number,
  ttlMs: number = retentionDefaults.ttlMs,
): RetentionDecision {
  const expired: SessionId[] = [];
  const retained: { sessionId: SessionId; because: RetainReason }[] = [];
  for (const session of sessions.toSorted(bySessionId)) {
    const because = retainReason(session, now, ttlMs);
    if (because === undefined) expired.push(session.sessionId);
    else retained.push({ sessionId: session.sessionId, because });
  }
  return { expired, retained };
}

export interface SessionPins {
  readonly sessionId: SessionId;
  readonly health: SessionHealth;
  readonly pins: readonly Digest[];
}

export type SnapshotCollection =
  | { readonly mode: 'sweep'; readonly unreachable: readonly Digest[] }
  /** Nothing is deleted. */
  | { readonly mode: 'safe'; readonly untrusted: readonly SessionId[] };

/** `retained` must contain every remaining session. */
export function decideSnapshotCollection(
  retained: readonly SessionPins[],
  stored: readonly { readonly ref: Digest; readonly storedAt: number }[],
  now: number,
  minAgeMs: number = retentionDefaults.snapshotMinAgeMs,
): SnapshotCollection {
  const untrusted = retained.filter(session => session.health !== 'healthy').map(session => session.sessionId);
  if (untrusted.length > 0) return { mode: 'safe', untrusted: untrusted.toSorted() };
  const reachable = new Set(retained.flatMap(session => session.pins));
  const unreachable = stored
    .filter(({ ref, storedAt }) => !reachable.has(ref) && now - storedAt >= minAgeMs)
    .map(({ ref }) => ref);
  return { mode: 'sweep', unreachable: unreachable.toSorted() };
}

function retainReason(
  { isKept, health, lastActiveAt }: StoredSession,
  now: number,
  ttlMs: number,
): RetainReason | undefined {
  if (isKept) return 'kept';
  if (health !== 'healthy') return 'not_healthy';
  return now - lastActiveAt < ttlMs ? 'active' : undefined;
}

function bySessionId(left: StoredSession, right: StoredSession): number {
  return left.sessionId < right.sessionId ? -1 : 1;
}
