import type { Retry } from '@signalbox/model';
import type { Task } from './task.ts';
import type { ErrorClass } from './task-error.ts';

/** What is known about a failure. */
export interface FailureFacts {
  /** An HTTP status. */
  readonly status?: number;
  /** The system's code, such as `ECONNRESET`. */
  readonly systemCode?: string;
  /** The request timed out. */
  readonly timedOut?: boolean;
  /** From an error envelope of Signalbox. */
  readonly retry?: Retry;
}

/** The server did not accept the request. */
const refused: ReadonlySet<number> = new Set([408, 425, 429, 503, 529]);
/** The server may have acted before it failed. */
const failedLate: ReadonlySet<number> = new Set([500, 502, 504]);

/** The request never arrived. */
const unsent: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ENETUNREACH', 'EHOSTUNREACH']);
/** The connection was lost while an answer was due. */
const cut: ReadonlySet<string> = new Set(['ECONNRESET', 'ETIMEDOUT', 'EPIPE', 'ECONNABORTED']);

/**
 * What to do after a failure (§7.6.1). Work that may have happened counts as unknown if it cannot be undone, and as retryable if repeating
 * it does no harm. Any failure not known to be transient is terminal.
 */
export function classifyFailure(facts: FailureFacts, effects: Task['effects']): ErrorClass {
  const perhapsDone = effects === 'external' ? 'unknown' : 'retryable';
  if (facts.retry !== undefined) return facts.retry.kind === 'not_retryable' ? 'terminal' : 'retryable';
  if (facts.status !== undefined) {
    if (refused.has(facts.status)) return 'retryable';
    return failedLate.has(facts.status) ? perhapsDone : 'terminal';
  }
  if (facts.systemCode !== undefined && unsent.has(facts.systemCode)) return 'retryable';
  if (facts.timedOut === true || (facts.systemCode !== undefined && cut.has(facts.systemCode))) return perhapsDone;
  return 'terminal';
}
