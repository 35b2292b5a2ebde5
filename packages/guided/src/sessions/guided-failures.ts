import { type Digest, defined, type ErrorEnvelope, failure, type Json, type SessionId } from '@signalbox/model';
import { type InterpreterFault, type Preferences, tokenSessionLocked } from '@signalbox/workflow';
import type * as z from 'zod';

export function invalidCall(message: string, suggestion: string, details?: Json): ErrorEnvelope<'VALIDATION_ERROR'> {
  return failure('VALIDATION_ERROR', { message, suggestion, ...defined({ details }) });
}

/** The error for an agent that asks for more than the person allows. */
export function onlyThePerson(
  tool: string,
  loosened: readonly (keyof Preferences)[],
  now: Preferences,
): ErrorEnvelope<'VALIDATION_ERROR'> {
  const fields = loosened.map(key => `preferences.${key}`).join(' and ');
  const held = loosened.map(key => `${key} ${now[key]}`).join(', ');
  return invalidCall(
    `${tool}: ${fields} would go further than the person allows (${held}). Nothing was changed.`,
    'Leave it out, or send a stricter value. Only the person can loosen it: in "workflows" of config.json of the data directory, or by starting the session in the console or with POST /api/sessions.',
    { tool, field: fields },
  );
}

/** The error for invalid tool input: the first problem by its path, and how many more. */
export function unfitInput(tool: string, error: z.ZodError): ErrorEnvelope<'VALIDATION_ERROR'> {
  const [first, ...rest] = error.issues;
  const where = first === undefined || first.path.length === 0 ? 'the input' : first.path.join('.');
  const more = rest.length === 0 ? '' : ` (and ${rest.length} more)`;
  return invalidCall(
    `${tool}: ${where}: ${first?.message ?? 'is not valid'}${more}.`,
    `Fix ${where} and send the call again; nothing was changed.`,
    { tool, field: where },
  );
}

export function notWhatItsNameSays(ref: Digest): ErrorEnvelope<'STORE_SNAPSHOT_CORRUPT'> {
  return failure('STORE_SNAPSHOT_CORRUPT', {
    message: `The content stored as ${ref} is not the expected content.`,
    suggestion: 'Restore it from a backup or an export of a session that refers to it.',
    details: { ref },
  });
}

export function contradiction(sessionId: SessionId, why: string): ErrorEnvelope<'SESSION_INVARIANT_VIOLATION'> {
  return failure('SESSION_INVARIANT_VIOLATION', {
    message: `Session ${sessionId} contradicts itself: ${why}. Nothing was computed again and nothing was changed.`,
    suggestion: 'Check the session with `signalbox verify`; continue from an earlier place, or start a new run.',
    details: { sessionId },
  });
}

export function faultOf(sessionId: SessionId, fault: InterpreterFault): ErrorEnvelope<'SESSION_INVARIANT_VIOLATION'> {
  return contradiction(sessionId, `${fault.reason} (${fault.code})`);
}

/** Reports a locked session as `TOKEN_SESSION_LOCKED`, for tools that take tokens. */
export function asTokenError(error: ErrorEnvelope): ErrorEnvelope {
  return error.code === 'SESSION_LOCKED' ? tokenSessionLocked({ ...error, code: error.code }) : error;
}
