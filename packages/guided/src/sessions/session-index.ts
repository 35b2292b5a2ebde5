import { lstatSync } from 'node:fs';
import {
  type Digest,
  type ErrorEnvelope,
  ok,
  type Result,
  type SessionId,
  sessionId as sessionIdSchema,
} from '@signalbox/model';
import { segmentsMark } from './session-cache.ts';
import {
  guardIo,
  openSessionStores,
  SESSIONS,
  type SessionStores,
  type SessionStoresOptions,
} from './session-stores.ts';
import { readSummary, type SessionSummary } from './session-summary.ts';

/** Summaries of all sessions, for repeated calls: unchanged sessions are not read again. */
export interface SessionIndex {
  /** Last written first. An unchanged session is the same object. */
  list(): Result<readonly SessionSummary[], ErrorEnvelope>;
}

/** All sessions, last written first. Health is as of the last read; `verify` reads again. */
export function listSessions(options: SessionStoresOptions): Result<readonly SessionSummary[], ErrorEnvelope> {
  return openSessionIndex(options).list();
}

interface Known {
  /** File facts that change with a session: its manifest and segments, and its directory, which changes when it is kept or released. */
  readonly mark: string;
  readonly summary: SessionSummary;
}

export function openSessionIndex(options: SessionStoresOptions): SessionIndex {
  const stores = rememberingWorkflows(openSessionStores(options));
  const home = `${options.dataDirectory}/${SESSIONS}`;
  let known = new Map<SessionId, Known>();

  const names = () =>
    guardIo('listing the sessions', () => (stores.disk.kind(home) === 'directory' ? stores.disk.list(home) : []));

  /** Undefined for a file or a link with the name of a session. */
  function markOf(sessionId: SessionId): string | undefined {
    const place = stores.directoryOf(sessionId);
    const directory = lstatSync(place, { throwIfNoEntry: false });
    if (directory?.isDirectory() !== true) return undefined;
    const manifest = lstatSync(`${place}/manifest.jsonl`, { throwIfNoEntry: false });
    return `${directory.mtimeMs} ${manifest?.mtimeMs} ${manifest?.size}\n${segmentsMark(place)}`;
  }

  return {
    list() {
      const listed = names();
      if (!listed.ok) return listed;
      const now = new Map<SessionId, Known>();
      const sessions: SessionSummary[] = [];
      for (const name of listed.value) {
        const id = sessionIdSchema.safeParse(name);
        const mark = id.success ? markOf(id.data) : undefined;
        if (!id.success || mark === undefined) continue;
        const before = known.get(id.data);
        const read = before?.mark === mark ? ok(before.summary) : readSummary(stores, id.data);
        if (!read.ok) return read;
        if (read.value === undefined) continue;
        // The mark is from before the read, so that later writes are read next time. A damaged session may be repaired without a change of
        // its manifest, and is always read.
        if (read.value.health === 'healthy') now.set(id.data, { mark, summary: read.value });
        sessions.push(read.value);
      }
      known = now;
      return ok(sessions.sort(lastWrittenFirst));
    },
  };
}

function lastWrittenFirst(a: SessionSummary, b: SessionSummary): number {
  if (a.lastActiveAt !== b.lastActiveAt) return a.lastActiveAt < b.lastActiveAt ? 1 : -1;
  return a.sessionId < b.sessionId ? -1 : 1;
}

/** Pinned workflows are named by content, and many sessions share one. */
function rememberingWorkflows(stores: SessionStores): SessionStores {
  const known = new Map<Digest, ReturnType<SessionStores['workflow']>>();
  return {
    ...stores,
    workflow(hash) {
      const found = known.get(hash) ?? stores.workflow(hash);
      if (found.ok && known.size < REMEMBERED_WORKFLOWS) known.set(hash, found);
      return found;
    },
  };
}

const REMEMBERED_WORKFLOWS = 64;
