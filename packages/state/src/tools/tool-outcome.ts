import type { ErrorEnvelope, Json } from '@signalbox/model';
import type { HeldChanges } from '../layers/held-changes.ts';
import type { StateError } from '../snapshots/snapshot-error.ts';
import type { KeptFiles } from '../snapshots/snapshotable.ts';

/** How a call ended. */
export type ToolOutcome =
  | { readonly status: 'succeeded'; readonly value: unknown; readonly warnings: readonly string[] }
  | {
      readonly status: 'failed';
      readonly error: ToolFailure;
      /** The tool's answer, in addition to its failure. */
      readonly value?: Json;
      readonly rollback: Rollback;
    }
  /** It began, cannot be undone, and gave no answer: it may or may not have happened. */
  | { readonly status: 'unknown'; readonly error: ErrorEnvelope<'tool/outcome-unknown'> };

export type ToolFailure = ErrorEnvelope<
  | 'tool/unknown'
  | 'tool/invalid-input'
  | 'tool/refused'
  | 'tool/sandbox-missing'
  | 'tool/failed'
  | 'tool/invalid-output'
  | 'tool/canceled'
  | 'tool/conflict'
  | 'tool/deadline'
  | 'state/recovery-needed'
  | 'state/snapshot-failed'
  | 'state/lock-failed'
>;

/** The fate of a failed call's changes. */
export type Rollback =
  /** The call had not begun, or has no file effects: only its session changes were dropped. */
  | { readonly kind: 'nothing-to-undo' }
  | {
      readonly kind: 'restored';
      /** Opaque directories that were changed and left alone. */
      readonly opaqueChanged: readonly string[];
      /** What could not be restored. */
      readonly lost: readonly string[];
      /** What was overwritten or removed and may not have been the call's: kept first, and can be restored. */
      readonly kept?: KeptFiles;
      /** Changes by others after the call's process had ended: left alone. */
      readonly left?: readonly string[];
      /** What the call left for git to run, under names that git does not use. */
      readonly setAside?: readonly string[];
    }
  /** The handler was told to stop and still runs: its directory stays locked, and is restored once it has ended. */
  | { readonly kind: 'waiting' }
  /** Someone else changed the same paths: nothing was overwritten. */
  | { readonly kind: 'conflict'; readonly error: StateError }
  /** It worked on a layer, which was dropped: there was nothing to restore. */
  | { readonly kind: 'dropped' }
  /** It worked on a layer, and somebody changed the same paths meanwhile: nothing was applied, and a person decides. */
  | { readonly kind: 'held'; readonly held: HeldChanges }
  /** The restore failed; the error describes the state on disk. The next recovery continues it. */
  | { readonly kind: 'failed'; readonly error: StateError };

/** The evaluation is over: no further call can be made. */
export interface PromptEvaluationError extends ErrorEnvelope<'tool/deadline'> {
  /** How the call under way ended; absent if none had begun. */
  readonly outcome?: ToolOutcome;
}
