import type { Result } from '@signalbox/model';

/** Exclusive file locks that the operating system releases when their holder dies. */
export interface FileLocks {
  /**
   * Callers in this process wait in line; for a holder in another process there is a short wait. The lock file is created if it
   * is missing, its directory is not.
   */
  acquire(path: string): Promise<Result<HeldLock, LockRefusal>>;
}

export interface HeldLock {
  release(): void;
}

export type LockRefusal =
  | { readonly code: 'busy' }
  /** The lock file cannot be used at all. */
  | { readonly code: 'unusable'; readonly reason: string };
