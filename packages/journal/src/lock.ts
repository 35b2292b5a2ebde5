import type { Result } from '@signalbox/model';

/** Exclusive locks on files that the operating system frees when their holder dies. */
export interface FileLocks {
  /**
   * Callers in this process wait in line; a holder in another process is waited for briefly. The lock file is made if
   * it is missing, its directory is not.
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
