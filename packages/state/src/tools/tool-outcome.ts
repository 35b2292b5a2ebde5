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
      /** What the tool answered besides its failure. */
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

/** What became of the changes of a failed call. */
export type Rollback =
  /** The call had not begun, or has no file effects: only its session changes were dropped. */
  | { readonly kind: 'nothing-to-undo' }
  | {
      readonly kind: 'restored';
      /** Opaque directories that were changed and left alone. */
      readonly opaqueChanged: readonly string[];
      /** What could not be brought back. */
      readonly lost: readonly string[];
      /** What was overwritten or removed and may not have been the call's: kept first, and can be brought back. */
      readonly kept?: KeptFiles;
      /** What others changed after the call's process had ended: left as it is. */
      readonly left?: readonly string[];
    }
  /** The handler was told to stop and still runs: its directory is held, and restored once it has ended. */
  | { readonly kind: 'waiting' }
  /** Someone else changed what should have been undone: nothing was overwritten. */
  | { readonly kind: 'conflict'; readonly error: StateError }
  /** It worked on a layer, which was dropped: there was nothing to restore. */
  | { readonly kind: 'dropped' }
  /** It worked on a layer, and somebody changed the same meanwhile: nothing was applied, and a person decides. */
  | { readonly kind: 'held'; readonly held: HeldChanges }
  /** The restore failed; the error says what is on disk. The next recovery goes on with it. */
  | { readonly kind: 'failed'; readonly error: StateError };

/** The evaluation is over: no further call can be made. */
export interface PromptEvaluationError extends ErrorEnvelope<'tool/deadline'> {
  /** How the call that was under way ended; absent where none had begun. */
  readonly outcome?: ToolOutcome;
}
