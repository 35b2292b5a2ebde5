import { findSession, listGuidedRuns } from '@signalbox/guided';
import type { ErrorEnvelope, Result, RunSummary, SessionId } from '@signalbox/model';
import { openBlobFiles } from '@signalbox/store';

/** Separate from the other use-cases of guided sessions: a command that lists or looks up runs loads nothing else of them. */
const ports = { openBlobs: openBlobFiles };

/** The guided runs of a data directory. */
export function guidedRunList(dataDirectory: string): Result<readonly RunSummary[], ErrorEnvelope> {
  return listGuidedRuns({ dataDirectory, ports });
}

/** The session that an id, or the beginning of one that only one session has, names. */
export function sessionNamed(dataDirectory: string, given: string): Result<SessionId, ErrorEnvelope> {
  return findSession({ dataDirectory, ports }, given);
}
