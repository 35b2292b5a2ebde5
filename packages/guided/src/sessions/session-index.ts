import { lstatSync } from 'node:fs';
import {
  type Digest,
  type ErrorEnvelope,
  ok,
  type Result,
  type SessionId,
  sessionId as sessionIdSchema,
} from '@signalbox/model';
import {
  guardIo,
  openSessionStores,
  SESSIONS,
  type SessionStores,
  type SessionStoresOptions,
} from './session-stores.ts';
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
  /** What the files say that change with a session: its manifest grows, and its directory when it is kept or not any more. */
  readonly mark: string;
  readonly summary: SessionSummary;
}

export function openSessionIndex(options: SessionStoresOptions): SessionIndex {
  const stores = rememberingWorkflows(openSessionStores(options));
  const home = `${options.dataDirectory}/${SESSIONS}`;
  let known = new Map<SessionId, Known>();

  const names = () =>
    guardIo('listing the sessions', () => (stores.disk.kind(home) === 'directory' ? stores.disk.list(home) : []));

  /** Undefined for what is no session: a file or a link with the name of one. */
  function markOf(sessionId: SessionId): string | undefined {
    const place = stores.directoryOf(sessionId);
    const directory = lstatSync(place, { throwIfNoEntry: false });
    if (directory?.isDirectory() !== true) return undefined;
    const manifest = lstatSync(`${place}/manifest.jsonl`, { throwIfNoEntry: false });
    return `${directory.mtimeMs} ${manifest?.mtimeMs} ${manifest?.size}`;
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
        // The mark is from before it was read: what is written meanwhile is read the next time. What is damaged may be mended
        // without a word in the manifest, and is always read.
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

/** What sessions are pinned to is named by its content, and many are pinned to the same. */
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
