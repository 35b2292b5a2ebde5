import { type SessionId, showSession } from '@signalbox/app/guided';
import { paintOf, type Terminal } from '../terminal.ts';
import { workflowPlaces } from '../workflow/workflow-places.ts';
import { describeSession } from './session-report.ts';

/** A guided session and its report. Loaded only for sessions, because `show` mostly shows runs. */
export async function readSession(dataDirectory: string, sessionId: SessionId) {
  const session = await showSession({ dataDirectory, directories: workflowPlaces() }, sessionId);
  return session.ok
    ? { ...session, describe: (terminal: Terminal) => describeSession(session.value, paintOf(terminal)) }
    : session;
}
