import { type ErrorEnvelope, err, failure, ok, type Result, timestampOf } from '@signalbox/model';
import { type FilesystemSnapshot, filesystem } from '../filesystem/filesystem.ts';
import type { LockError, PathLocks } from '../filesystem/path-locks.ts';
import type { CompositeSnapshot } from '../snapshots/composite-snapshot.ts';
import type { ExecutionState } from '../snapshots/execution-state.ts';
import { conflict, type StateError } from '../snapshots/snapshot-error.ts';
import type { RestoreReport } from '../snapshots/two-phase-restore.ts';
import { joinedChanges } from './call-changes.ts';
import type { ToolCheckpoint } from './checkpoint-store.ts';
import { checkpointsFrom } from './inner-checkpoints.ts';
import { undoBaseline } from './undo-baseline.ts';
import { callChanges } from './undo-call.ts';

export type CheckpointUnknownError = ErrorEnvelope<'state/checkpoint-unknown'>;
export type ToolPhase = 'pre' | 'post';

export interface RollbackReport extends RestoreReport {
  /** The name under which the rollback itself is recorded. */
  readonly checkpointId: string;
}

const ROLLBACK = 'rollback';

/**
 * Rolls the state back to before or after a call. Only the changes of later calls are undone: changes by others elsewhere
 * stay, and if both changed the same path, nothing is overwritten and the conflict is reported.
 *
 * The rollback is recorded like a call, so that it can be undone too and is not mistaken for somebody else's change.
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
    const chain = checkpointsFrom(state.checkpoints?.list() ?? [], toolCallId);
    const isPartial = chain.some(one => tellsSome(one));
    const baseline = isPartial ? undefined : undoBaseline(chain, target);
    const undone = isPartial ? joinedChanges((phase === 'pre' ? chain : chain.slice(1)).map(callChanges)) : undefined;
    const conflicts = baseline?.conflicts ?? undone?.conflicts ?? [];
    if (conflicts.length > 0) return err(conflict(conflicts));
    const pre = await state.snapshot({ metadata: { toolName: ROLLBACK, phase: 'checkpoint' } });
    if (!pre.ok) return pre;
    const restored = await state.restore(target, {
      ...(baseline && { left: baseline.left }),
      ...(undone && { undo: undone.changes }),
    });
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

/** Whether a checkpoint contains only the paths that its call changed. */
function tellsSome({ pre }: ToolCheckpoint): boolean {
  return (pre.resources.get(filesystem.name) as FilesystemSnapshot | undefined)?.tree.partial === true;
}

/** The snapshot of a tool boundary. After a call that did not succeed, the state is as before it. */
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
