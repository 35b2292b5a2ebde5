import { lstatSync } from 'node:fs';
import { type ErrorEnvelope, ok, type Result, type SessionId } from '@signalbox/model';
import { openSessionStores, type SessionStoresOptions } from './session-stores.ts';
import { readSummary, type SessionSummary } from './session-summary.ts';

/** All sessions at a glance, again and again: one that was not written since is not read. */
export interface SessionIndex {
  /** The last that was written first. A session that did not change is the same object. */
  list(): Result<readonly SessionSummary[], ErrorEnvelope>;
}

/** All sessions, the last that was written first. Health is as of when a session was last read; `verify` reads it again. */
export function listSessions(options: SessionStoresOptions): Result<readonly SessionSummary[], ErrorEnvelope> {
  return openSessionIndex(options).list();
}

interface Known {
  readonly bytes: number;
  readonly at: number;
  readonly summary: SessionSummary;
}

export function openSessionIndex(options: SessionStoresOptions): SessionIndex {
  const stores = openSessionStores(options);
  let known = new Map<SessionId, Known>();

  return {
    list() {
      const ids = stores.ids();
      if (!ids.ok) return ids;
      const now = new Map<SessionId, Known>();
      const sessions: SessionSummary[] = [];
      for (const sessionId of ids.value) {
        const manifest = lstatSync(`${stores.directoryOf(sessionId)}/manifest.jsonl`, { throwIfNoEntry: false });
        const [bytes, at] = [manifest?.size ?? 0, manifest?.mtimeMs ?? 0];
        const before = known.get(sessionId);
        const read = readSummary(
          stores,
          sessionId,
          before?.bytes === bytes && before.at === at ? before.summary : undefined,
        );
        if (!read.ok) return read;
        if (read.value === undefined) continue;
        // What is damaged may be mended without a word in the manifest.
        if (read.value.health === 'healthy') now.set(sessionId, { bytes, at, summary: read.value });
        sessions.push(read.value);
      }
      known = now;
      return ok(
        sessions.sort(
          (left, right) =>
            Date.parse(right.lastActiveAt) - Date.parse(left.lastActiveAt) ||
            (left.sessionId < right.sessionId ? -1 : 1),
        ),
      );
    },
  };
}
