import type { FilesystemSnapshot } from '../filesystem/filesystem.ts';
import { filesystem } from '../filesystem/filesystem.ts';
import { isWithin } from '../filesystem/path-locks.ts';
import { pathParts } from '../filesystem/path-name.ts';
import { type DirectoryNode, differingPaths, nodeAt, withNode } from '../filesystem/tree.ts';
import type { CompositeSnapshot } from '../snapshots/composite-snapshot.ts';
import type { ToolCheckpoint } from './checkpoint-store.ts';
import { treeOf } from './undo-call.ts';

export interface UndoBaseline {
  /** What the calls left, except at paths that only others changed: there it equals the target, so they stay. */
  readonly left: CompositeSnapshot;
  /** Paths that both the calls and others changed. */
  readonly conflicts: readonly string[];
}

/**
 * The baseline for undoing a chain of calls. Others may have changed files between two calls, and later snapshots then
 * contain those changes: they show as a difference between what one call left and what the next one found.
 */
export function undoBaseline(chain: readonly ToolCheckpoint[], target: CompositeSnapshot): UndoBaseline | undefined {
  const last = chain.at(-1);
  const leftByLast = last?.post ?? last?.pre;
  if (leftByLast === undefined) return undefined;
  const byCalls: string[] = [];
  const byOthers: string[] = [];
  for (const [index, { pre, post }] of chain.entries()) {
    if (post !== null) byCalls.push(...differingPaths(treeOf(pre), treeOf(post)));
    const next = chain[index + 1];
    if (next !== undefined) byOthers.push(...changedByOthers(treeOf(post ?? pre), treeOf(next.pre)));
  }
  const conflicts = byOthers.filter(path => byCalls.some(own => isWithin(own, path) || isWithin(path, own)));
  const tree = treeOf(leftByLast);
  const wanted = treeOf(target);
  if (tree === undefined || wanted === undefined) return { left: leftByLast, conflicts };
  const left = byOthers.reduce((base, path) => withTargetAt(base, wanted, path), tree);
  const resources = new Map(leftByLast.resources).set(filesystem.name, { tree: left } satisfies FilesystemSnapshot);
  return { left: { ...leftByLast, resources }, conflicts };
}

/** A missing pipe, socket or device was lost by the rollback of a call: that is nobody's change. */
function changedByOthers(left: DirectoryNode | undefined, found: DirectoryNode | undefined): readonly string[] {
  return differingPaths(left, found).filter(path => {
    const parts = pathParts(path);
    if (!parts.ok || left === undefined || found === undefined) return true;
    return nodeAt(left, parts.value)?.kind !== 'special' || nodeAt(found, parts.value) !== undefined;
  });
}

function withTargetAt(base: DirectoryNode, target: DirectoryNode, path: string): DirectoryNode {
  const parts = pathParts(path);
  return parts.ok ? withNode(base, parts.value, nodeAt(target, parts.value)) : base;
}
