import { type ErrorCode, type ErrorEnvelope, failure } from '@signalbox/model';
import { ContainerFault } from './bundle-container.ts';

export type BundleErrorCode = Extract<ErrorCode, `BUNDLE_${string}`>;

export const isBundleError = (code: ErrorCode): code is BundleErrorCode => code.startsWith('BUNDLE_');

/** What is wrong with a bundle, thrown to where its file was opened. */
export class BundleFault extends Error {
  override readonly name = 'BundleFault';
  readonly code: BundleErrorCode;
  /** The part in which it is. */
  readonly part: string | undefined;

  constructor(code: BundleErrorCode, why: string, part?: string) {
    super(why);
    this.code = code;
    this.part = part;
  }
}

/** The envelope of what was thrown while a bundle was read, or the same again if it is none of the bundle's. */
export function bundleFailure(file: string, cause: unknown): ErrorEnvelope {
  if (cause instanceof ContainerFault) {
    const code = cause.kind === 'format' ? 'BUNDLE_INVALID_FORMAT' : 'BUNDLE_INTEGRITY_FAILED';
    return refusal(file, code, cause.message);
  }
  if (cause instanceof BundleFault) return refusal(file, cause.code, cause.message, cause.part);
  const systemCode = (cause as { readonly code?: unknown } | null)?.code;
  if (typeof systemCode !== 'string' || !/^E[A-Z_]+$/.test(systemCode)) throw cause;
  const isOfDisk = DISK_FAILURES.has(systemCode);
  return failure(isOfDisk ? 'STORE_IO_FAILED' : 'command/usage', {
    message: `${file} cannot be read (${systemCode}).`,
    suggestion: isOfDisk ? 'Check the disk, then try again.' : 'Give a file that "signalbox export" wrote.',
    details: { systemCode },
  });
}

/** Failures of the machine, not of the file name that was given. */
const DISK_FAILURES: ReadonlySet<string> = new Set(['EIO', 'ENOSPC', 'EDQUOT', 'EROFS', 'EMFILE', 'ENFILE', 'ENOMEM']);

function refusal(file: string, code: BundleErrorCode, why: string, part?: string): ErrorEnvelope {
  const where = part === undefined ? '' : ` in ${part}`;
  return failure(code, {
    message: `${file} is not a valid bundle: ${why}${where}.`,
    suggestion:
      code === 'BUNDLE_UNSUPPORTED_VERSION'
        ? 'Open it with the version of Signalbox that wrote it.'
        : 'Export the run again, or download the file again.',
    ...(part !== undefined && { details: { part } }),
  });
}
