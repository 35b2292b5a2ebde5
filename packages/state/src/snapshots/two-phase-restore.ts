import { err, ok, type Result } from '@signalbox/model';
import type { StateError } from './snapshot-error.ts';
import type { KeptFiles, StagedRestore } from './snapshotable.ts';

export interface RestoreReport {
  /** Names of what could not be restored. */
  readonly lost: readonly string[];
  /** What was overwritten or removed and can be restored. */
  readonly kept: KeptFiles | null;
  /** What was left alone because somebody else changed it. */
  readonly left: readonly string[];
}

/**
 * Restores several parts as one: all are staged before any is applied, and if one fails to apply, the applied ones are
 * undone, last one first.
 */
export async function restoreAll(
  parts: readonly (() => Promise<Result<StagedRestore, StateError>>)[],
): Promise<Result<RestoreReport, StateError>> {
  const staged: StagedRestore[] = [];
  for (const stage of parts) {
    const one = await stage();
    if (!one.ok) {
      for (const earlier of staged) await earlier.discard();
      return one;
    }
    staged.push(one.value);
  }
  for (const [index, one] of staged.entries()) {
    const applied = await one.apply();
    if (applied.ok) continue;
    for (const later of staged.slice(index + 1)) await later.discard();
    return err((await undoAll(staged.slice(0, index))) ?? applied.error);
  }
  for (const one of staged) await one.finish();
  return ok({
    lost: staged.flatMap(one => one.lost),
    kept: staged.find(one => one.kept)?.kept ?? null,
    left: staged.flatMap(one => one.left ?? []),
  });
}

const ATTEMPTS = 5;

/**
 * Undoes what a call left behind. If somebody changes a file during the restore, it is planned again with their change.
 */
export async function restoreUnlessMoved(
  ...parts: readonly (() => Promise<Result<StagedRestore, StateError>>)[]
): Promise<Result<RestoreReport, StateError>> {
  for (let attempt = 1; ; attempt++) {
    const restored = await restoreAll(parts);
    if (restored.ok || restored.error.code !== 'state/conflict' || attempt === ATTEMPTS) return restored;
  }
}

async function undoAll(applied: readonly StagedRestore[]): Promise<StateError | undefined> {
  let worst: StateError | undefined;
  for (const one of applied.toReversed()) {
    const undone = await one.undo();
    if (!undone.ok) worst ??= undone.error;
  }
  return worst;
}
