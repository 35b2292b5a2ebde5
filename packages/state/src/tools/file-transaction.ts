import { err, ok, type Result } from '@signalbox/model';
import type { FileCall, Filesystem, FilesystemSnapshot } from '../filesystem/filesystem.ts';
import { filesystem } from '../filesystem/filesystem.ts';
import { replacementOf } from '../filesystem/regular-file.ts';
import { thrownReason } from '../filesystem/system-reason.ts';
import type { GitProgram } from '../git/git-programs.ts';
import type { CompositeSnapshot } from '../snapshots/composite-snapshot.ts';
import type { ExecutionState } from '../snapshots/execution-state.ts';
import { type StateError, snapshotFailed } from '../snapshots/snapshot-error.ts';
import { restoreAll, restoreUnlessMoved } from '../snapshots/two-phase-restore.ts';
import { machineTimers, type Timers } from './timers.ts';
import type { Rollback } from './tool-outcome.ts';

/** Everything that a call with file effects can change, captured before it begins. */
export interface FileTransaction {
  readonly pre: CompositeSnapshot;
  /** Everything that the call may change, if known. */
  readonly paths: readonly string[] | undefined;
  /** What git would run because of the changes, which nobody was asked about. */
  programs(): Promise<readonly GitProgram[]>;
  /** The changes stay. */
  commit(): Promise<Result<void, StateError>>;
  /** The changes are undone, even after a commit. */
  rollback(): Promise<Rollback>;
}

export async function beginFileTransaction(
  state: ExecutionState,
  call: Pick<FileCall, 'id' | 'tool' | 'evaluation'> & {
    readonly paths: readonly string[] | undefined;
    /** Aborts the capture. */
    readonly signal?: AbortSignal | undefined;
  },
  timers: Timers = machineTimers,
): Promise<Result<FileTransaction, StateError>> {
  const { id, tool } = call;
  const files = state.resources.get(filesystem);
  let paths = call.paths;
  const capture = () =>
    state.snapshot({
      ...(paths && { paths }),
      signal: call.signal,
      tag: `pre:${id}`,
      metadata: { toolCallId: id, toolName: tool, phase: 'pre_tool' },
    });
  if (call.paths !== undefined && files !== undefined) {
    const linked = await attempt(async () => ok(await files.linkedPaths(call.paths ?? [], call.signal)));
    if (!linked.ok) return linked;
    paths = [...call.paths, ...linked.value];
  }
  const pre = await capture();
  if (!pre.ok) return pre;
  const scope = paths === undefined ? {} : { paths };
  const captured = pre.value;
  const before = filesIn(captured);
  const charged = call.evaluation === undefined ? {} : { evaluation: call.evaluation };
  const guarded = await attempt(async () => ok(await files?.guard?.(before, paths)));
  if (!guarded.ok) return guarded;
  const guard = guarded.value;
  const begun = await attempt(
    async () =>
      files?.begin({ id, tool, before, ...scope, ...charged, programs: guard?.picture }) ?? ok({ startedAt: 0 }),
  );
  if (!begun.ok) return begun;
  // Only for a call that may have changed anything must its changes be separated from later ones by others.
  const stopBeating = paths === undefined && files !== undefined ? beat(() => files.alive(id), timers) : () => {};

  const commit = () =>
    attempt(async () => {
      stopBeating();
      await files?.end(id);
      return ok(undefined);
    });

  return ok({
    pre: captured,
    paths,
    commit,
    programs: async () => guard?.changed() ?? [],
    async rollback() {
      stopBeating();
      // From here on, a crash finds a call whose process had ended, so its changes can be separated from later ones.
      if (paths === undefined) await files?.alive(id).catch(() => {});
      const ended = paths === undefined && files !== undefined ? { endedAt: await files.mark(id) } : {};
      const parts = [...state.resources.snapshotable()].map(
        ([name, part]) =>
          () =>
            part.stage(captured.resources.get(name), { id, left: 'present', ...scope, ...ended }),
      );
      const restored = await attempt(() => (paths === undefined ? restoreUnlessMoved(...parts) : restoreAll(parts)));
      if (restored.ok) {
        const opaqueChanged = (await files?.changedOpaque(before, begun.value.startedAt)) ?? [];
        const { lost, kept, left } = restored.value;
        const aside = await attempt(async () =>
          ok((await guard?.takeBack(await guard.changed(), ended.endedAt ?? Number.MAX_SAFE_INTEGER)) ?? []),
        );
        if (!aside.ok) return { kind: 'failed', error: aside.error };
        return {
          kind: 'restored',
          opaqueChanged,
          lost,
          ...(kept !== null && { kept }),
          ...(left.length > 0 && { left }),
          ...(aside.value.length > 0 && { setAside: aside.value }),
        };
      }
      if (restored.error.code !== 'state/conflict') return { kind: 'failed', error: restored.error };
      const closed = await commit();
      return { kind: closed.ok ? 'conflict' : 'failed', error: restored.error };
    },
  });
}

/** How far before the process's death a change is left alone, because it could be somebody else's. */
const BEAT_MS = 100;

/** Periodically records that the call's process is alive, until stopped. */
function beat(say: () => Promise<void>, timers: Timers): () => void {
  let stop = () => {};
  const next = () => {
    stop = timers.after(BEAT_MS, () => {
      // A missed heartbeat only makes the call look dead earlier than it was.
      say().catch(() => {});
      next();
    });
  };
  next();
  return () => stop();
}

function filesIn(snapshot: CompositeSnapshot): FilesystemSnapshot {
  // The filesystem itself added this snapshot.
  return snapshot.resources.get(filesystem.name) as FilesystemSnapshot;
}

/**
 * The paths that a tool declares, and their targets: the path may contain or be a link. Each includes the temporary file that
 * its new content may be written to first.
 */
export function locatedPaths(files: Filesystem, paths: readonly string[]): readonly string[] {
  const located = paths.flatMap(path => {
    const at = files.locate(path);
    return at.ok ? [path, at.value, ...(at.value === '' ? [] : [replacementOf(at.value)])] : [path];
  });
  return [...new Set(located)];
}

/** Converts disk errors at the edge where they occur. */
async function attempt<T>(work: () => Promise<Result<T, StateError>>): Promise<Result<T, StateError>> {
  try {
    return await work();
  } catch (cause) {
    return err(snapshotFailed(thrownReason(cause)));
  }
}
