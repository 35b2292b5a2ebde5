import { type ErrorEnvelope, err, failure, namesId, ok, type Result, type SessionId } from '@signalbox/model';
import { openSessionStores, type SessionStoresOptions } from './session-stores.ts';

/** The session named by an id, or by a beginning or end that only one session has. */
export function findSession(options: SessionStoresOptions, given: string): Result<SessionId, ErrorEnvelope> {
  const ids = openSessionStores(options).ids();
  if (!ids.ok) return ids;
  const found = ids.value.filter(id => namesId(id, given));
  const exact = found.find(id => id === given);
  const [first, second] = found;
  if (exact !== undefined || (first !== undefined && second === undefined)) return ok(exact ?? (first as SessionId));
  const message =
    first === undefined
      ? `There is no session ${given} in this data directory.`
      : `${found.length} sessions begin or end with ${given}.`;
  return err(unknownSession(message, found.length));
}

/** `matches` counts the sessions that the text could mean. */
export function unknownSession(message: string, matches = 0): ErrorEnvelope<'session/unknown'> {
  return failure('session/unknown', {
    message,
    details: { matches },
    suggestion: 'List sessions with "signalbox sessions", and give enough of the id to identify one.',
  });
}
