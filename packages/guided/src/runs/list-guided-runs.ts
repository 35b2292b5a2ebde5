import { type ErrorEnvelope, ok, type Result, type RunSummary } from '@signalbox/model';
import { openSessionIndex, type SessionIndex } from '../sessions/session-index.ts';
import type { SessionStoresOptions } from '../sessions/session-stores.ts';
import type { SessionSummary } from '../sessions/session-summary.ts';
import { guidedSummary } from './guided-run.ts';

/** The runs of all sessions, newest first. For a session that was not written since its summary, only the summary is read. */
export function listGuidedRuns(options: SessionStoresOptions): Result<readonly RunSummary[], ErrorEnvelope> {
  return createRunList(openSessionIndex(options))();
}

/** Like `listGuidedRuns`, for repeated calls: an unchanged run is the same object. */
export function createRunList(index: SessionIndex): () => Result<readonly RunSummary[], ErrorEnvelope> {
  // An unchanged session is the same object, and so are its runs.
  const shown = new WeakMap<SessionSummary, readonly RunSummary[]>();
  return () => {
    const sessions = index.list();
    if (!sessions.ok) return sessions;
    return ok(
      sessions.value
        .flatMap(session => {
          const runs = shown.get(session) ?? session.runs.map(run => guidedSummary(session, run));
          shown.set(session, runs);
          return runs;
        })
        .sort(newestFirst),
    );
  };
}

function newestFirst(a: RunSummary, b: RunSummary): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? 1 : -1;
  return a.id < b.id ? 1 : -1;
}
