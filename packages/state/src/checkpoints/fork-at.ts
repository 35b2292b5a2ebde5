import { type ErrorEnvelope, err, failure, ok, type Result, type SessionId } from '@signalbox/model';
import { type FilesystemSnapshot, filesystem } from '../filesystem/filesystem.ts';
import { isWithin } from '../filesystem/path-locks.ts';
import { createExecutionState, type ExecutionState, structureMismatch } from '../snapshots/execution-state.ts';
import type { Resources } from '../snapshots/resources.ts';
import { type StateError, snapshotMismatch } from '../snapshots/snapshot-error.ts';
import { restoreAll } from '../snapshots/two-phase-restore.ts';
import type { CheckpointStore } from './checkpoint-store.ts';
import { checkpointsFrom } from './inner-checkpoints.ts';
import {
  boundarySnapshot,
  type CheckpointUnknownError,
  checkpointUnknown,
  type ToolPhase,
} from './rollback-to-tool.ts';
import { treeAt } from './undo-call.ts';

export type ForkFailedError = ErrorEnvelope<'state/fork-failed'>;

export interface Fork {
  readonly state: ExecutionState;
  /** Entries that the snapshot names without content, such as opaque directories. */
  readonly lost: readonly string[];
}

/**
 * A new state that starts from another one's state before or after a call. It has its own session, a child of the other's,
 * and its own resources, which must be fresh; the other state is not touched.
 */
export async function forkAt(options: {
  readonly state: ExecutionState;
  readonly toolCallId: string;
  readonly phase?: ToolPhase;
  readonly into: {
    readonly sessionId: SessionId;
    readonly resources: Resources;
    readonly checkpoints?: CheckpointStore;
  };
}): Promise<Result<Fork, ForkFailedError | CheckpointUnknownError | StateError>> {
  const { state, toolCallId, phase = 'post', into } = options;
  const snapshot = boundarySnapshot(state, toolCallId, phase);
  if (snapshot === undefined) return err(checkpointUnknown(toolCallId, phase));
  const mismatch = structureMismatch(into.resources, snapshot);
  if (mismatch !== undefined) return err(snapshotMismatch(mismatch));
  const apart = await hasOwnDirectory(state.resources, into.resources);
  if (!apart.ok) return apart;

  const fits = state.session.stage(snapshot.session);
  if (!fits.ok) return fits;
  const parts = [...into.resources.snapshotable()].map(([name, part]) => async () => {
    const original = state.resources.snapshotable().get(name);
    const whole = name === filesystem.name ? await wholeFiles(state, toolCallId, phase) : ok(undefined);
    if (!whole.ok) return whole;
    const data = await original?.encode(whole.value ?? snapshot.resources.get(name));
    const own = await part.decode(data ?? null);
    return own.ok ? part.stage(own.value, { id: `fork:${into.sessionId}`, left: 'present' as const }) : own;
  });
  const restored = await restoreAll(parts);
  if (!restored.ok) return restored;
  const session = state.session.fork(into.sessionId, snapshot.session);
  if (!session.ok) return session;
  const forked = createExecutionState({
    session: session.value,
    resources: into.resources,
    clock: state.clock,
    ids: state.ids,
    ...(state.rng && { rng: state.rng }),
    ...(into.checkpoints && { checkpoints: into.checkpoints }),
  });
  return ok({ state: forked, lost: restored.value.lost });
}

/** All files at a boundary whose checkpoint lists only some; undefined if it lists all. */
async function wholeFiles(
  state: ExecutionState,
  toolCallId: string,
  phase: ToolPhase,
): Promise<Result<FilesystemSnapshot | undefined, StateError>> {
  const chain = checkpointsFrom(state.checkpoints?.list() ?? [], toolCallId);
  const files = state.resources.get(filesystem);
  const known = boundarySnapshot(state, toolCallId, phase)?.resources.get(filesystem.name);
  if (files === undefined || (known as FilesystemSnapshot | undefined)?.tree.partial !== true) return ok(undefined);
  const now = await files.snapshot();
  if (!now.ok) return now;
  const tree = treeAt(chain, phase, now.value.tree);
  return ok(tree && { tree });
}

async function hasOwnDirectory(from: Resources, into: Resources): Promise<Result<void, ForkFailedError | StateError>> {
  const theirs = from.get(filesystem);
  const own = into.get(filesystem);
  if (theirs === undefined || own === undefined) return ok(undefined);
  if (isWithin(own.lockPath, theirs.lockPath) || isWithin(theirs.lockPath, own.lockPath)) {
    return err(forkFailed('its directory is the same as, inside, or around the one it is forked from'));
  }
  const present = await own.snapshot();
  if (!present.ok) return present;
  return present.value.tree.entries.size === 0 ? ok(undefined) : err(forkFailed('its directory is not empty'));
}

function forkFailed(reason: string): ForkFailedError {
  return failure('state/fork-failed', {
    message: `the state cannot be forked: ${reason}`,
    suggestion: 'Give the fork its own empty directory.',
  });
}
