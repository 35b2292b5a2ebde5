import { type Digest, type ErrorEnvelope, failure, type SessionId } from '@signalbox/model';
import { type Defect, defectMeanings, describeDefect, healthOf } from './defect.ts';
import type { DiskError } from './disk.ts';

export type HealthError = ErrorEnvelope<'SESSION_CORRUPT' | 'SESSION_UNKNOWN_VERSION'>;
export type IoError = ErrorEnvelope<'STORE_IO_FAILED'>;
export type LockError = ErrorEnvelope<'SESSION_LOCKED' | 'STORE_LOCK_UNUSABLE'>;

export function ioFailure(cause: DiskError, doing: string): IoError {
  return failure('STORE_IO_FAILED', {
    message: `The disk refused while ${doing}: ${cause.message}.`,
    suggestion: 'Check that the disk is mounted, writable and not full, then repeat the call: it is safe to repeat.',
    retry: { kind: 'retryable_immediate' },
    details: { operation: cause.operation, systemCode: cause.code },
  });
}

export function unhealthy(sessionId: SessionId, defect: Defect, validEvents: number): HealthError {
  const health = healthOf(defect, validEvents);
  const details = { sessionId, health, validEvents, defect: { ...defect } };
  const message = `Session ${sessionId}: ${describeDefect(defect)}. ${defectMeanings[defect.code]}`;
  if (health === 'unknown_version') {
    return failure('SESSION_UNKNOWN_VERSION', {
      message,
      suggestion: 'Open it with the version of Signalbox that wrote it, or a newer one.',
      details,
    });
  }
  return failure('SESSION_CORRUPT', {
    message,
    suggestion:
      validEvents > 0
        ? `Nothing is appended to a damaged journal. Its first ${validEvents} events are valid and can be inspected and exported; restore the rest from a backup.`
        : 'None of it can be trusted. Restore it from a backup or an export.',
    details,
  });
}

export function sessionLocked(sessionId: SessionId): LockError {
  return failure('SESSION_LOCKED', {
    message: `Session ${sessionId} is being written by another process.`,
    suggestion: 'Try again in a moment. If this persists, find the other Signalbox process that has the session open.',
    retry: { kind: 'retryable_after_ms', afterMs: 500 },
    details: { sessionId },
  });
}

export function lockUnusable(sessionId: SessionId, reason: string): LockError {
  return failure('STORE_LOCK_UNUSABLE', {
    message: `The lock file of session ${sessionId} cannot be used: ${reason}.`,
    suggestion: "Check that the data directory is writable; if the session's .lock file is damaged, delete it.",
    details: { sessionId },
  });
}

export function snapshotNotStored(sessionId: SessionId, ref: Digest): ErrorEnvelope<'STORE_SNAPSHOT_MISSING'> {
  return failure('STORE_SNAPSHOT_MISSING', {
    message: `The plan for session ${sessionId} refers to snapshot ${ref}, which is not in the store. Nothing was written.`,
    suggestion: 'Put the snapshot into the store first, then append the same plan.',
    details: { sessionId, ref },
  });
}
