import { type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import type { DomainEvent, EventOf } from './domain-event.ts';
import type { TokenOf, TokenPayload } from './tokens.ts';

export type PlaceError = ErrorEnvelope<'TOKEN_SCOPE_MISMATCH' | 'TOKEN_UNKNOWN_NODE' | 'TOKEN_WORKFLOW_HASH_MISMATCH'>;

/** The node that a token names, in its session. */
export function nodeOfToken(
  events: readonly DomainEvent[],
  token: TokenPayload,
): Result<EventOf<'node_created'>, PlaceError> {
  // Newest first: a walk is usually at the newest node.
  const created = events.findLast(event => event.kind === 'node_created' && event.scope.nodeId === token.nodeId);
  if (created?.kind !== 'node_created' || created.sessionId !== token.sessionId) return err(unknownNode(token));
  if (created.scope.runId !== token.runId) {
    return err(
      scopeMismatch(`node ${token.nodeId} belongs to run ${created.scope.runId}, the token says ${token.runId}`),
    );
  }
  if (token.tokenKind === 'state' && created.data.workflowHash !== token.workflowHash) {
    return err(
      failure('TOKEN_WORKFLOW_HASH_MISMATCH', {
        message: `The stateToken was given for workflow ${token.workflowHash}; node ${token.nodeId} is pinned to ${created.data.workflowHash}.`,
        suggestion: 'Ask for a new stateToken with resume_session: a run stays with the workflow it began with.',
        details: { nodeId: token.nodeId, token: token.workflowHash, pinned: created.data.workflowHash },
      }),
    );
  }
  return ok(created);
}

/** Two tokens of one call must name one place. */
export function samePlace(
  state: TokenOf<'state'>,
  other: TokenOf<'ack'> | TokenOf<'checkpoint'>,
): Result<undefined, PlaceError> {
  for (const field of ['sessionId', 'runId', 'nodeId'] as const) {
    if (state[field] !== other[field]) {
      return err(scopeMismatch(`${field} is ${state[field]} in one and ${other[field]} in the other`));
    }
  }
  return ok(undefined);
}

/** The answer to a call with tokens while another process writes the session. */
export function tokenSessionLocked(locked: ErrorEnvelope<'SESSION_LOCKED'>): ErrorEnvelope<'TOKEN_SESSION_LOCKED'> {
  return { ...locked, code: 'TOKEN_SESSION_LOCKED' };
}

function unknownNode(token: TokenPayload) {
  return failure('TOKEN_UNKNOWN_NODE', {
    message: `Session ${token.sessionId} has no node ${token.nodeId}, which the token names.`,
    suggestion: 'Its session may have been deleted or imported under a new id. Find it again with resume_session.',
    details: { sessionId: token.sessionId, nodeId: token.nodeId },
  });
}

function scopeMismatch(why: string) {
  return failure('TOKEN_SCOPE_MISMATCH', {
    message: `The tokens do not belong together: ${why}.`,
    suggestion: 'Send the tokens of one and the same answer; do not mix those of two workflows or two steps.',
  });
}
