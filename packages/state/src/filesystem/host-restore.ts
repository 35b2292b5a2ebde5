import * as fs from 'node:fs';
import { err, ok, type Result } from '@signalbox/model';
import { conflict, restoreFailed, type StateError } from '../snapshots/snapshot-error.ts';
import type { KeptFiles, StagedRestore } from '../snapshots/snapshotable.ts';
import { ContentFault, type ContentStore } from './content-store.ts';
import { type HostFiles, syncAll } from './host-files.ts';
import { mayAccess, type ScanOptions, scanNode, scanPaths } from './host-scan.ts';
import { discardedTree, withLateChanges } from './kept-files.ts';
import { type OpenedPaths, withModes } from './opened-paths.ts';
import { osPath } from './path-name.ts';
import { removeTree } from './remove-tree.ts';
import { type MergeOptions, mergeRestore } from './restore-merge.ts';
import { planRestore, type RestorePlan, type RestoreStep } from './restore-plan.ts';
import { exists, performSteps, type StepPlace, setAttributes, undoSteps } from './restore-steps.ts';
import { closedName, preparedName } from './staging-name.ts';
import { reasonOf } from './system-reason.ts';
import { type DirectoryNode, type FileNode, type LinkNode, nodeAt, sameNode } from './tree.ts';

/**
 * A restore of a directory on disk, in two phases.
 *
 * 1. Staging writes all new entries into a directory inside the root, and changes nothing else. Until the first
 *    step that directory has a "preparing" name: nobody has to trust its content.
 * 2. Before the first step, the steps are recorded (`commit`) and the staged entries are synced, both concurrently, so that
 *    the next process can finish them.
 * 3. Right before that, everything that will be moved is checked once more.
 * 4. Right after the last step, what was moved away is checked for programs that would keep writing to it: then the steps are undone.
 * 5. Steps are renames and mode changes. Replaced entries wait in the staging directory, so that every step can be undone
 *    until `finish`.
 */
export interface HostRestore {
  readonly files: HostFiles;
  readonly store: ContentStore;
  readonly root: string;
  /** The name of the staging directory inside the root. */
  readonly staging: string;
  readonly scan: ScanOptions;
  readonly opened: OpenedPaths;
  readonly merge: MergeOptions;
  /** Durably keeps what would be discarded; absent if everything that is overwritten is known to be stored. */
  readonly keep?: Keeping;
  /** Why these paths may not be replaced or removed now; undefined if they may. */
  refusal(paths: readonly string[]): StateError | undefined;
  /** The same, once they are in the staging directory: their paths, by name there. From then on no program can open them. */
  refusalAfter(asides: ReadonlyMap<string, string>): StateError | undefined;
  /** Why the root is no longer the directory that was opened; undefined if it is. */
  checkRoot(): StateError | undefined;
  readonly trees: { readonly left: DirectoryNode; readonly target: DirectoryNode; readonly now: DirectoryNode };
  /** Durably records that these steps have begun; null: that they were undone. */
  commit(steps: readonly RestoreStep[] | null): Promise<void>;
  /** Called before anything is written into the staging directory. */
  begin(kept: KeptFiles | null): Promise<void>;
  /** Called when the restore has ended without changing anything. */
  abandon(): Promise<void>;
  /** Called after the last step, before replaced entries are deleted. */
  keptAll(kept: KeptFiles): Promise<void>;
  /** Called with the restored tree, after the last step. */
  done(tree: DirectoryNode): Promise<void>;
}

interface Keeping {
  /** Keeps what turning a tree into the desired one discards; undefined if nothing. */
  discarded(discarded: DirectoryNode, desired: DirectoryNode): Promise<KeptTree | undefined>;
  /** Keeps a tree in place of a previously kept one. */
  instead(tree: DirectoryNode, desired: DirectoryNode): Promise<KeptTree>;
}

export interface KeptTree extends KeptFiles {
  readonly tree: DirectoryNode;
}

export async function stageHostRestore(restore: HostRestore): Promise<Result<StagedRestore, StateError>> {
  const { files, root, opened } = restore;
  const { desired, conflicts, lost, theirs } = mergeRestore(restore.trees, restore.merge);
  if (conflicts.length > 0) {
    opened.close();
    return err(conflict(conflicts));
  }
  const plan = planRestore(restore.trees.now, desired, opened.modes);
  const refused = restore.refusal(plan.steps.flatMap(step => (step.op === 'aside' ? [step.path] : [])));
  if (refused !== undefined) {
    opened.close();
    return err(refused);
  }
  const place: StepPlace = { files, root, staging: `${root}/${restore.staging}` };
  let performed = 0;
  let staged: readonly string[] = [];
  let kept: KeptTree | undefined;
  const skipped: string[] | undefined = restore.keep && [];

  const abandon = async () => {
    attemptCleanUp(place);
    opened.close();
    await restore.abandon();
  };

  try {
    const discarded = restore.keep && discardedTree(restore.trees.now, desired);
    if (discarded !== undefined) kept = await restore.keep?.discarded(discarded, desired);
    await restore.begin(filesOf(kept));
    staged = await stageContents(restore, place, plan);
  } catch (cause) {
    await abandon();
    if (cause instanceof ContentFault) return err(cause.error);
    return err(restoreFailed(reasonOf(cause), { state: 'unchanged' }));
  }

  const takeBack = async (because: StateError): Promise<StateError> => {
    const undone = undoSteps(place, plan.steps, performed);
    performed = undone.left;
    if (undone.left > 0) {
      return restoreFailed(`${because.message}; ${reasonOf(undone.cause)}`, halfWay(restore, plan, undone.left));
    }
    await restore.commit(null);
    await abandon();
    return because;
  };

  /** Directories that the last steps close to us are synced before those steps. */
  const perform = async () => {
    const closing = plan.steps.slice(plan.finals).filter(step => step.op === 'attributes' && isClosed(step.set.mode));
    const first = performSteps(place, plan.steps, { to: plan.finals, skipped });
    if (first.kind !== 'done') return first;
    if (process.geteuid?.() !== 0 && closing.length > 0) {
      await syncAll(files, [...touchedDirectories(root, plan.steps.slice(0, plan.finals))].filter(exists));
    }
    return performSteps(place, plan.steps, { from: plan.finals, skipped });
  };

  /** A file may have been written between its last check and the step that moved it away. */
  const keepLate = async () => {
    if (kept === undefined) return;
    const scan = { ...restore.scan, root: place.staging, store: restore.store };
    const late = await withLateChanges(kept.tree, plan.steps, (as, before) => scanNode(scan, String(as), before));
    if (late !== undefined) kept = await restore.keep?.instead(late, desired);
  };

  return ok({
    lost,
    get kept() {
      return filesOf(kept);
    },
    get left() {
      return [...theirs, ...(skipped ?? [])];
    },
    async apply() {
      if (plan.steps.length === 0) return ok(undefined);
      const replaced = restore.checkRoot();
      if (replaced !== undefined) {
        await restore.abandon();
        return err(replaced);
      }
      const moved = await changedSince(restore, plan);
      if (moved.length > 0) {
        await abandon();
        return err(conflict(moved));
      }
      try {
        await allOf([restore.commit(plan.steps), syncAll(files, staged)]);
        files.rename(preparedName(place.staging), place.staging);
      } catch (cause) {
        await abandon();
        return err(restoreFailed(reasonOf(cause), { state: 'unchanged' }));
      }
      const outcome = await perform();
      performed = outcome.kind === 'done' ? plan.steps.length : outcome.done;
      if (outcome.kind === 'conflict') return err(await takeBack(conflict([outcome.path])));
      if (outcome.kind === 'failed') {
        const reason = `${outcome.path}: ${reasonOf(outcome.cause)}`;
        return err(await takeBack(restoreFailed(reason, { state: 'unchanged' })));
      }
      const asides = plan.steps.flatMap(step => (step.op === 'aside' ? [[String(step.as), step.path] as const] : []));
      const refused = restore.refusalAfter(new Map(asides));
      return refused === undefined ? ok(undefined) : err(await takeBack(refused));
    },
    async undo() {
      if (performed === 0) return ok(undefined);
      const because = restoreFailed('another part of the state could not be restored', { state: 'unchanged' });
      const result = await takeBack(because);
      return result === because ? ok(undefined) : err(result);
    },
    async finish() {
      await keepLate();
      if (kept !== undefined) await restore.keptAll({ digest: kept.digest, paths: kept.paths });
      if (plan.steps.length > 0) await closeStaging(place, plan.steps);
      await restore.done(desired);
    },
    discard: abandon,
  });
}

function filesOf(kept: KeptTree | undefined): KeptFiles | null {
  return kept === undefined ? null : { digest: kept.digest, paths: kept.paths };
}

/**
 * Ends a restore whose steps are all done: after the rename, the staging directory only waits for deletion. Everything
 * that the steps did is durable before that.
 */
export async function closeStaging({ files, root, staging }: StepPlace, steps: readonly RestoreStep[]): Promise<void> {
  const closed = closedName(staging);
  if (exists(staging)) files.rename(staging, closed);
  await syncAll(files, [...touchedDirectories(root, steps)].filter(canSync));
  removeTree(files, closed);
}

/** A directory that is closed to us was synced before it was closed. */
function canSync(path: string): boolean {
  const { R_OK } = fs.constants;
  return process.geteuid?.() === 0 ? exists(path) : mayAccess(osPath(path), R_OK);
}

function isClosed(mode: number): boolean {
  return (mode & 0o500) !== 0o500;
}

function touchedDirectories(root: string, steps: readonly RestoreStep[]): ReadonlySet<string> {
  const parents = steps.map(({ path }) =>
    path.includes('/') ? `${root}/${path.slice(0, path.lastIndexOf('/'))}` : root,
  );
  return new Set([root, ...parents]);
}

/** Returns what must be synced before the first step. */
async function stageContents(restore: HostRestore, place: StepPlace, plan: RestorePlan): Promise<readonly string[]> {
  if (plan.steps.length === 0) return [];
  const prepared = preparedName(place.staging);
  removeTree(place.files, prepared);
  removeTree(place.files, place.staging);
  place.files.mkdir(prepared, 0o700);
  const written: string[] = [place.root, prepared];
  for (const [number, node] of plan.staged) {
    const path = `${prepared}/${number}`;
    await stageNode(restore, path, node);
    if (node.kind === 'file') written.push(path);
  }
  return written;
}

/** Waits for all of them, even if one fails. */
async function allOf(work: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find(one => one.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

async function stageNode({ files, store }: HostRestore, path: string, node: FileNode | LinkNode): Promise<void> {
  if (node.kind === 'link') {
    files.symlink(node.target, path);
    return;
  }
  if (node.digest === null) throw new Error('its content was never read');
  const writer = files.create(path, 0o600);
  try {
    for await (const chunk of store.read(node.digest)) writer.write(chunk);
  } finally {
    writer.close();
  }
  setAttributes(files, path, node);
}

/** Paths that have changed since the restore was planned. */
async function changedSince({ scan, trees, opened }: HostRestore, plan: RestorePlan): Promise<readonly string[]> {
  const paths = [...plan.expected.keys()];
  const seen = await scanPaths(
    scan,
    trees.now,
    paths.map(path => path.split('/')),
  );
  const present = withModes(seen, opened.modes);
  return paths.filter(path => !sameNode(nodeAt(present, path.split('/')), nodeAt(trees.now, path.split('/'))));
}

function halfWay(restore: HostRestore, plan: RestorePlan, stillDone: number) {
  const at = (from: number, to?: number) => [...new Set(plan.steps.slice(from, to).map(step => step.path))];
  return {
    state: 'partly-restored' as const,
    restored: at(0, stillDone).filter(path => !at(stillDone).includes(path)),
    notRestored: at(stillDone),
    staging: restore.staging,
  };
}

/** Leftovers that cannot be removed now are removed by the next restore of the same name. */
function attemptCleanUp({ files, staging }: StepPlace): void {
  try {
    removeTree(files, preparedName(staging));
    removeTree(files, staging);
  } catch {
    // The staging directory holds only copies here, and the next restore of this name recreates it.
  }
}
