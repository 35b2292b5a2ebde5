import { err, ok, type Result } from '@signalbox/model';
import type { Filesystem, FilesystemSnapshot } from '../filesystem/filesystem.ts';
import { filesystem } from '../filesystem/filesystem.ts';
import { replacementOf } from '../filesystem/regular-file.ts';
import type { CompositeSnapshot } from '../snapshots/composite-snapshot.ts';
import type { ExecutionState } from '../snapshots/execution-state.ts';
import { type StateError, snapshotFailed } from '../snapshots/snapshot-error.ts';
import { restoreAll } from '../snapshots/two-phase-restore.ts';
import type { Rollback } from './tool-outcome.ts';

/** Everything that a call with file effects can change, captured before it begins. */
export interface FileTransaction {
  readonly pre: CompositeSnapshot;
  /** All that the call may change, if that is known. */
  readonly paths: readonly string[] | undefined;
  /** What was done stays. */
  commit(): Promise<Result<void, StateError>>;
  /** What was done is undone, also after a commit. */
  rollback(): Promise<Rollback>;
}

export async function beginFileTransaction(
  state: ExecutionState,
  call: { readonly id: string; readonly tool: string; readonly paths: readonly string[] | undefined },
): Promise<Result<FileTransaction, StateError>> {
  const { id, tool } = call;
  const files = state.resources.get(filesystem);
  let paths = call.paths;
  const capture = () =>
    state.snapshot({
      ...(paths && { paths }),
      tag: `pre:${id}`,
      metadata: { toolCallId: id, toolName: tool, phase: 'pre_tool' },
    });
  if (call.paths !== undefined && files !== undefined) {
    const linked = await attempt(async () => ok(await files.linkedPaths(call.paths ?? [])));
    if (!linked.ok) return linked;
    paths = [...call.paths, ...linked.value];
  }
  const pre = await capture();
  if (!pre.ok) return pre;
  const scope = paths === undefined ? {} : { paths };
  const captured = pre.value;
  const before = filesIn(captured);
  const begun = await attempt(async () => files?.begin({ id, tool, before, ...scope }) ?? ok({ startedAt: 0 }));
  if (!begun.ok) return begun;

  const commit = () =>
    attempt(async () => {
      await files?.end(id);
      return ok(undefined);
    });

  return ok({
    pre: captured,
    paths,
    commit,
    async rollback() {
      const parts = [...state.resources.snapshotable()].map(
        ([name, part]) =>
          () =>
            part.stage(captured.resources.get(name), { id, left: 'present', ...scope }),
      );
      const restored = await attempt(() => restoreAll(parts));
      if (restored.ok) {
        const opaqueChanged = (await files?.changedOpaque(before, begun.value.startedAt)) ?? [];
        return { kind: 'restored', opaqueChanged, lost: restored.value.lost };
      }
      if (restored.error.code !== 'state/conflict') return { kind: 'failed', error: restored.error };
      const ended = await commit();
      return { kind: ended.ok ? 'conflict' : 'failed', error: restored.error };
    },
  });
}

function filesIn(snapshot: CompositeSnapshot): FilesystemSnapshot {
  // The filesystem put this snapshot in itself.
  return snapshot.resources.get(filesystem.name) as FilesystemSnapshot;
}

/**
 * The paths that a tool declares, and where they really lead: a link on the way, or the link itself, may be meant. With each
 * goes the file that its new content may be written to first.
 */
export function locatedPaths(files: Filesystem, paths: readonly string[]): readonly string[] {
  const located = paths.flatMap(path => {
    const at = files.locate(path);
    return at.ok ? [path, at.value, ...(at.value === '' ? [] : [replacementOf(at.value)])] : [path];
  });
  return [...new Set(located)];
}

/** Errors of the disk, at the edge where they are met. */
async function attempt<T>(work: () => Promise<Result<T, StateError>>): Promise<Result<T, StateError>> {
  try {
    return await work();
  } catch (cause) {
    return err(snapshotFailed(cause instanceof Error ? cause.message : String(cause)));
  }
}
