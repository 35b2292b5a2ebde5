import type { Digest, Json, Result } from '@signalbox/model';
import type { StateError } from './snapshot-error.ts';

/**
 * A part of the state that can be captured and restored.
 *
 * Restoring has two phases. `stage` checks and prepares everything without visible changes. Its result can then be applied,
 * and undone until it is finished.
 */
export interface Snapshotable<S> {
  snapshot(options?: CaptureOptions): Promise<Result<S, StateError>>;
  stage(snapshot: S, options: StageOptions<S>): Promise<Result<StagedRestore, StateError>>;
  /** A snapshot as plain data; what it refers to is durable when this returns. */
  encode(snapshot: S): Promise<Json>;
  decode(data: Json): Promise<Result<S, StateError>>;
  /** Whether two snapshots are the same to a reader of the state. */
  equivalent(a: S, b: S): boolean;
}

interface CaptureOptions {
  /** Everything that may have changed since the last capture, if known. */
  readonly paths?: readonly string[];
  /** Aborts the capture, which fails. */
  readonly signal?: AbortSignal | undefined;
}

export interface StageOptions<S> extends CaptureOptions {
  /** Names the restore in the undo log. */
  readonly id: string;
  /**
   * The state to compare with before anything is overwritten: `present`, for a call that has just ended and made every change
   * up to `endedAt`; `known`, the last known state; or the state that a call is known to have left.
   */
  readonly left: 'present' | 'known' | { readonly snapshot: S };
  /**
   * With `present`, if others may have worked there too: discarded files are kept first, and changes after this instant, on the
   * filesystem's clock, stay.
   */
  readonly endedAt?: number;
}

/** What a restore discarded or would discard: a tree in the content store, and its paths. */
export interface KeptFiles {
  readonly digest: Digest;
  readonly paths: readonly string[];
}

export interface StagedRestore {
  /** Names of what cannot be restored. */
  readonly lost: readonly string[];
  /** Kept copies of what is overwritten or removed; null if nothing is. */
  readonly kept?: KeptFiles | null;
  /** Names of what is left alone because somebody else changed it. */
  readonly left?: readonly string[];
  apply(): Promise<Result<void, StateError>>;
  /** Undoes `apply`, even if it was only half done. */
  undo(): Promise<Result<void, StateError>>;
  /** Deletes what undoing would need. */
  finish(): Promise<void>;
  /** Discards a restore that was not applied. */
  discard(): Promise<void>;
}

export function isSnapshotable(value: unknown): value is Snapshotable<unknown> {
  return typeof value === 'object' && value !== null && 'snapshot' in value && 'stage' in value && 'encode' in value;
}
