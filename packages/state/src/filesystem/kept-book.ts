import type { Digest } from '@signalbox/model';
import type { KeptFiles } from '../snapshots/snapshotable.ts';

/** What one rollback of a call kept. A call that runs again and fails again has another one. */
export interface KeptEntry {
  readonly call: string;
  readonly tool: string;
  /** What the call was charged to, where it is known. */
  readonly evaluation?: string | undefined;
  readonly root: string;
  /** The tree that the rollback left where it overwrote or removed something. */
  readonly before: Digest;
  readonly kept: KeptFiles;
}

/**
 * Where it is written down what rollbacks kept, so that a person can ask for it later.
 *
 * 1. An entry is durable when `add` returns, and only then does the rollback let go of what it moved out of the way.
 * 2. Entries are only added: no later attempt of a call replaces what an earlier one kept. The same entry may come twice, where a
 *    process died in between.
 */
export interface KeptBook {
  add(entry: KeptEntry): Promise<void>;
}
