import type { Digest, Json, Result } from '@signalbox/model';
import type { StateError } from './snapshot-error.ts';

/**
 * A part of the state that can be captured and brought back.
 *
 * Bringing back has two phases. `stage` checks and prepares everything and changes nothing that anybody can see. What it
 * answers can then be applied, and until it is finished also undone.
 */
export interface Snapshotable<S> {
  snapshot(options?: CaptureOptions): Promise<Result<S, StateError>>;
  stage(snapshot: S, options: StageOptions<S>): Promise<Result<StagedRestore, StateError>>;
  /** A snapshot as plain data; what it refers to is durable when this returns. */
  encode(snapshot: S): Promise<Json>;
  decode(data: Json): Promise<Result<S, StateError>>;
  /** Whether two snapshots are the same to somebody who reads the state. */
  equivalent(a: S, b: S): boolean;
}

export interface CaptureOptions {
  /** All that may have changed since the last capture, where that is known. */
  readonly paths?: readonly string[];
  /** Ends the capture, which fails. */
  readonly signal?: AbortSignal | undefined;
}

export interface StageOptions<S> extends CaptureOptions {
  /** Names the restore in records of what is under way. */
  readonly id: string;
  /**
   * What the state is compared with before anything is overwritten: `present`, for a call that has just ended and whose
   * doing everything is that was not changed after `endedAt`; `known`, what was last seen; or what some call is known to have left.
   */
  readonly left: 'present' | 'known' | { readonly snapshot: S };
  /**
   * With `present`, where others may have worked too: what is thrown away is kept first, and what was changed after this
   * instant, on the clock of the filesystem, stays.
   */
  readonly endedAt?: number;
}

/** What a restore threw away, or would: a tree in the content store, and the paths in it. */
export interface KeptFiles {
  readonly digest: Digest;
  readonly paths: readonly string[];
}

export interface StagedRestore {
  /** What cannot be brought back, by name. */
  readonly lost: readonly string[];
  /** What is overwritten or removed and was kept first; null where nothing is. */
  readonly kept?: KeptFiles | null;
  /** What stays as it is because it was changed by somebody else, by name. */
  readonly left?: readonly string[];
  apply(): Promise<Result<void, StateError>>;
  /** Takes back what `apply` did, also half of it. */
  undo(): Promise<Result<void, StateError>>;
  /** Lets go of what undoing would need. */
  finish(): Promise<void>;
  /** Lets go of a restore that is not applied. */
  discard(): Promise<void>;
}

export function isSnapshotable(value: unknown): value is Snapshotable<unknown> {
  return typeof value === 'object' && value !== null && 'snapshot' in value && 'stage' in value && 'encode' in value;
}
