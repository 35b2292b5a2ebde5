import { type FilesystemSnapshot, filesystem } from '../filesystem/filesystem.ts';
import { treesOf } from '../layers/stretch.ts';
import type { CompositeSnapshot } from '../snapshots/composite-snapshot.ts';
import { changesBetween, joinedChanges } from './call-changes.ts';
import type { ToolCheckpoint } from './checkpoint-store.ts';

/**
 * The parts of a call whose program made calls by itself, as checkpoints of their own, in order; those of no inner call have the
 * name of the call. None for other calls.
 */
export function innerCheckpoints(checkpoint: ToolCheckpoint): readonly ToolCheckpoint[] {
  const { pre, post, stretches = [], toolCallId, toolName, recordedAt } = checkpoint;
  if (post === null) return [];
  return stretches.map(({ call, before, after }) => ({
    toolCallId: call?.id ?? toolCallId,
    toolName: call?.tool ?? toolName,
    pre: withFiles(pre, before),
    post: withFiles(pre, after),
    outcome: call?.outcome ?? checkpoint.outcome,
    resultSummary: call?.summary ?? null,
    elapsedMs: call?.elapsedMs ?? null,
    recordedAt: call?.at ?? recordedAt,
  }));
}

/** The checkpoint of a call that the program of one of these calls made. */
export function innerCheckpoint(list: readonly ToolCheckpoint[], id: string): ToolCheckpoint | undefined {
  const around = outerOf(list, id);
  return around === undefined ? undefined : innerCheckpoints(around).find(one => one.toolCallId === id);
}

/** The checkpoints from a call on, oldest first. For an inner call, they begin with the parts of the call around it. */
export function checkpointsFrom(list: readonly ToolCheckpoint[], id: string): readonly ToolCheckpoint[] {
  const around = outerOf(list, id);
  if (around === undefined) return list.slice(list.findIndex(one => one.toolCallId === id));
  const parts = innerCheckpoints(around);
  return [...parts.slice(parts.findIndex(one => one.toolCallId === id)), ...list.slice(list.indexOf(around) + 1)];
}

/** A call without the changes of some of its inner calls, which were undone. */
export function withoutInner(checkpoint: ToolCheckpoint, ids: ReadonlySet<string>): ToolCheckpoint {
  const { pre, post, stretches = [] } = checkpoint;
  const isUndone = (one: (typeof stretches)[number]) => one.call !== undefined && ids.has(one.call.id);
  if (post === null || !stretches.some(isUndone)) return checkpoint;
  const left = stretches.filter(one => !isUndone(one));
  const { changes } = joinedChanges(left.map(({ before, after }) => changesBetween(before.tree, after.tree)));
  const { before, after } = treesOf(changes);
  return {
    ...checkpoint,
    stretches: left,
    pre: withFiles(pre, { tree: before }),
    post: withFiles(post, { tree: after }),
  };
}

function outerOf(list: readonly ToolCheckpoint[], id: string): ToolCheckpoint | undefined {
  return list.findLast(one => one.stretches?.some(({ call }) => call?.id === id) === true);
}

function withFiles(snapshot: CompositeSnapshot, files: FilesystemSnapshot): CompositeSnapshot {
  return { ...snapshot, resources: new Map(snapshot.resources).set(filesystem.name, files) };
}
