import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { type ErrorEnvelope, failure, type StorageReason } from '@signalbox/model';

/** A database cannot be opened with less: its shared memory alone needs this much. */
const LEAST_BYTES = 64 * 1024;

/** Error codes of `accessSync` for a directory that is not writable, because of its disk or its mode. */
const READ_ONLY: ReadonlySet<unknown> = new Set(['EROFS', 'EACCES', 'EPERM']);

/** Why a directory cannot take files: its disk is full, or it is read-only. Writes nothing. */
export function diskFault(directory: string): Exclude<StorageReason, 'failing'> | undefined {
  try {
    accessSync(directory, constants.W_OK);
  } catch (cause) {
    return cause instanceof Error && 'code' in cause && READ_ONLY.has(cause.code) ? 'read-only' : undefined;
  }
  const { bavail, bsize } = statfsSync(directory);
  return bavail * bsize < LEAST_BYTES ? 'full' : undefined;
}

/** The same as an error for the caller that wanted to write there. */
export function diskRefusal(directory: string): ErrorEnvelope<'store/unusable'> | undefined {
  const fault = existsSync(directory) ? diskFault(directory) : undefined;
  return fault === undefined ? undefined : diskRefusalOf(directory, fault);
}

/** The error for a caller whose write into the data directory failed for this reason. */
export function diskRefusalOf(
  directory: string,
  fault: Exclude<StorageReason, 'failing'>,
): ErrorEnvelope<'store/unusable'> {
  return failure('store/unusable', {
    message:
      fault === 'full'
        ? `The disk of the data directory ${directory} is full.`
        : `The data directory ${directory} is read-only.`,
    suggestion:
      fault === 'full'
        ? 'Free some space, then try again.'
        : 'Make it writable again, or choose another one with --data-dir.',
    retry: { kind: 'retryable_immediate' },
    details: { reason: fault },
  });
}
