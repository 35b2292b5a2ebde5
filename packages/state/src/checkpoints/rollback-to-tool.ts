import { type ErrorEnvelope, err, failure, ok, type Result, timestampOf } from '@signalbox/model';
import { filesystem } from '../filesystem/filesystem.ts';
import type { LockError, PathLocks } from '../filesystem/path-locks.ts';
import type { CompositeSnapshot } from '../snapshots/composite-snapshot.ts';
import type { ExecutionState } from '../snapshots/execution-state.ts';
import { conflict, type StateError } from '../snapshots/snapshot-error.ts';
import type { RestoreReport } from '../snapshots/two-phase-restore.ts';
import { undoBaseline } from './undo-baseline.ts';

export type CheckpointUnknownError = ErrorEnvelope<'state/checkpoint-unknown'>;
export type ToolPhase = 'pre' | 'post';

export interface RollbackReport extends RestoreReport {
  /** What the rollback itself is recorded as. */
  readonly checkpointId: string;
}

const ROLLBACK = 'rollback';

/**
 * Brings the state back to before, or after, a call. Only what the calls since then did is undone: what others changed
 * elsewhere stays, and where both changed the same path nothing is overwritten and the conflict is told.
 *
 * The rollback is recorded like a call, so that it can be undone too and is not taken for somebody else's doing.
 */
export async function rollbackToTool(options: {
  readonly state: ExecutionState;
  readonly locks: PathLocks;
  readonly toolCallId: string;
  readonly phase?: ToolPhase;
  readonly signal?: AbortSignal;
}): Promise<Result<RollbackReport, StateError | CheckpointUnknownError | LockError>> {
  const { state, locks, toolCallId, phase = 'pre' } = options;
  const lockPath = state.resources.get(filesystem)?.lockPath ?? '/memory:no-files';
  const lock = await locks.acquire(lockPath, 'exclusive', options.signal);
  if (!lock.ok) return lock;
  try {
    const target = boundarySnapshot(state, toolCallId, phase);
    if (target === undefined) return err(checkpointUnknown(toolCallId, phase));
    const all = state.checkpoints?.list() ?? [];
    const from = all.findIndex(one => one.toolCallId === toolCallId);
    const baseline = undoBaseline(all.slice(from), target);
    if (baseline !== undefined && baseline.conflicts.length > 0) return err(conflict(baseline.conflicts));
    const pre = await state.snapshot({ metadata: { toolName: ROLLBACK, phase: 'checkpoint' } });
    if (!pre.ok) return pre;
    const restored = await state.restore(target, baseline === undefined ? {} : { left: baseline.left });
    if (!restored.ok) return restored;
    const post = await state.snapshot({ metadata: { toolName: ROLLBACK, phase: 'checkpoint' } });
    if (!post.ok) return post;
    const id = `${ROLLBACK}:${pre.value.snapshotId}`;
    await state.checkpoints?.record({
      toolCallId: id,
      toolName: ROLLBACK,
      pre: pre.value,
      post: post.value,
      outcome: 'succeeded',
      resultSummary: `back to ${phase === 'pre' ? 'before' : 'after'} ${toolCallId}`,
      elapsedMs: null,
      recordedAt: timestampOf(state.clock),
    });
    return ok({ ...restored.value, checkpointId: id });
  } finally {
    lock.value();
  }
}

/** The snapshot of a tool boundary. After a call that did not succeed the state is what it was before it. */
export function boundarySnapshot(
  state: ExecutionState,
  toolCallId: string,
  phase: ToolPhase,
): CompositeSnapshot | undefined {
  const checkpoint = state.checkpoints?.get(toolCallId);
  return phase === 'pre' ? checkpoint?.pre : (checkpoint?.post ?? checkpoint?.pre);
}

export function checkpointUnknown(toolCallId: string, phase: ToolPhase): CheckpointUnknownError {
  return failure('state/checkpoint-unknown', {
    message: `there is no checkpoint ${phase === 'pre' ? 'before' : 'after'} call ${toolCallId}`,
    suggestion: 'List the checkpoints and choose one of them; the oldest are dropped.',
  });
}
