import type { Digest } from '@signalbox/model';
import type { KeptFiles } from '../snapshots/snapshotable.ts';

/** Files kept by one rollback of a call. A call that runs and fails again gets another entry. */
export interface KeptEntry {
  readonly call: string;
  readonly tool: string;
  /** The task of the call, if known. */
  readonly evaluation?: string | undefined;
  readonly root: string;
  /** The tree that the rollback left at the paths it overwrote or removed. */
  readonly before: Digest;
  readonly kept: KeptFiles;
}

/**
 * A durable record of the files that rollbacks kept, so that a person can restore them later.
 *
 * 1. An entry is durable when `add` returns, and only then does the rollback delete what it replaced.
 * 2. Entries are only added: a later attempt of a call never replaces an earlier one's entry. The same entry may appear twice if
 *    a process died in between.
 */
export interface KeptBook {
  add(entry: KeptEntry): Promise<void>;
}
