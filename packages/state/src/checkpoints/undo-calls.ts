import path from 'node:path';
import { type ErrorEnvelope, err, ok, type Result } from '@signalbox/model';
import type { Filesystem } from '../filesystem/filesystem.ts';
import { isWithin, type LockError, type PathLocks } from '../filesystem/path-locks.ts';
import { joined } from '../filesystem/tree.ts';
import { conflict, pathsOf, restoreFailed, type StateError } from '../snapshots/snapshot-error.ts';
import { type CallChanges, joinedChanges, removedIn } from './call-changes.ts';

/** The changes of one call under its root. */
export interface CallInRoot {
  readonly root: string;
  readonly changes: CallChanges;
}

/** What undoing calls changes, or would change. Paths are relative to the root. */
export interface RootUndo {
  readonly root: string;
  readonly paths: readonly string[];
  /** Paths that did not exist before and are removed. */
  readonly removed: readonly string[];
  /** Paths that were never captured and are not touched. */
  readonly lost: readonly string[];
}

/**
 * Undoes the file changes of several calls under one or more roots, as if they had been one call. A root inside another counts
 * as part of it. Every root is checked before the first one is changed: if somebody else changed any of the paths, no root is
 * touched and the conflict names the paths. If a conflict appears only while a root is being undone, earlier roots are restored.
 */
export async function undoCalls<E extends ErrorEnvelope>(options: {
  /** Oldest first. */
  readonly calls: readonly CallInRoot[];
  /** Names the undo in the undo log. */
  readonly id: string;
  readonly open: (root: string) => Result<Filesystem, E>;
  readonly locks: PathLocks;
  readonly dryRun?: boolean;
  /** Formats a path in a conflict; relative to its root by default. */
  readonly nameOf?: (root: string, path: string) => string;
}): Promise<Result<readonly RootUndo[], StateError | LockError | E>> {
  const { id, locks, dryRun = false, nameOf = (_, name) => name } = options;
  const found = byRoot(options.calls, options.open);
  if (!found.ok) return found;
  const places = found.value.map(({ files, root, calls }) => ({ files, root, ...joinedChanges(calls) }));
  const held: (() => void)[] = [];
  try {
    for (const { files } of places) {
      const lock = await locks.acquire(files.lockPath, 'exclusive');
      if (!lock.ok) return lock;
      held.push(lock.value);
    }
    const looked: RootUndo[] = [];
    const conflicts: string[] = [];
    for (const { files, root, changes, conflicts: between } of places) {
      conflicts.push(...between.map(name => nameOf(root, name)));
      const would = await undo(files, changes, { id, dryRun: true });
      if (would.ok) looked.push({ root, ...would.value, removed: removedIn(changes, would.value.paths) });
      else if (would.error.code !== 'state/conflict') return would;
      else conflicts.push(...pathsOf(would.error).map(name => nameOf(root, name)));
    }
    if (conflicts.length > 0) return err(conflict([...new Set(conflicts)].sort()));
    if (dryRun) return ok(looked);
    const undone: RootUndo[] = [];
    for (const { files, root, changes } of places) {
      const result = await undo(files, changes, { id });
      if (result.ok) {
        undone.push({ root, ...result.value, removed: removedIn(changes, result.value.paths) });
        continue;
      }
      for (const [index, { paths }] of undone.entries()) {
        const place = places[index];
        if (place === undefined) continue;
        const back = await undo(place.files, inverse(place.changes, paths), { id: `${id}:back` });
        if (!back.ok) return back;
      }
      if (result.error.code !== 'state/conflict') return result;
      return err(conflict(pathsOf(result.error).map(name => nameOf(root, name))));
    }
    return ok(undone);
  } finally {
    for (const release of held.toReversed()) release();
  }
}

interface Place {
  readonly files: Filesystem;
  readonly root: string;
  readonly calls: CallChanges[];
}

/** The outermost roots, sorted for a consistent lock order, with the changes of all calls below each. */
function byRoot<E extends ErrorEnvelope>(
  calls: readonly CallInRoot[],
  open: (root: string) => Result<Filesystem, E>,
): Result<readonly Place[], E> {
  const opened = new Map<string, Filesystem>();
  for (const { root } of calls) {
    if (opened.has(root)) continue;
    const files = open(root);
    if (!files.ok) return files;
    opened.set(root, files.value);
  }
  const all = [...opened.values()];
  const places = new Map<string, Place>();
  for (const { root, changes } of calls) {
    const files = opened.get(root);
    if (files === undefined) continue;
    const outer = all.reduce((best, one) => (isWithin(best.lockPath, one.lockPath) ? one : best), files);
    const place = places.get(outer.lockPath) ?? { files: outer, root: outer.root ?? outer.lockPath, calls: [] };
    places.set(outer.lockPath, place);
    place.calls.push(below(path.relative(outer.lockPath, files.lockPath), changes));
  }
  return ok([...places.values()].sort((a, b) => (a.files.lockPath < b.files.lockPath ? -1 : 1)));
}

function below(folder: string, changes: CallChanges): CallChanges {
  if (folder === '') return changes;
  return new Map([...changes].map(([name, change]) => [name === '' ? folder : joined(folder, name), change]));
}

function inverse(changes: CallChanges, paths: readonly string[]): CallChanges {
  return new Map(
    paths.map(name => {
      const { before, after } = changes.get(name) ?? {};
      return [name, { ...(after && { before: after }), ...(before && { after: before }) }];
    }),
  );
}

async function undo(files: Filesystem, changes: CallChanges, how: { readonly id: string; readonly dryRun?: boolean }) {
  return files.undo === undefined
    ? err(restoreFailed('its files are not on disk', { state: 'unchanged' }))
    : files.undo(changes, how);
}
