import * as fs from 'node:fs';
import { type Digest, defined, err, ok, type Result } from '@signalbox/model';
import { isClosed, lookIntoClosed, parentOf, whileOpen } from '../filesystem/closed-paths.ts';
import type { ContentStore } from '../filesystem/content-store.ts';
import { type HostFiles, syncAll } from '../filesystem/host-files.ts';
import { isWithin } from '../filesystem/path-locks.ts';
import { osPath } from '../filesystem/path-name.ts';
import { removeTree } from '../filesystem/remove-tree.ts';
import { reasonOf } from '../filesystem/system-reason.ts';
import { attributesOf, joined } from '../filesystem/tree.ts';
import type { UndoLog } from '../filesystem/undo-log.ts';
import { applyFailed, restoreFailed, type StateError } from '../snapshots/snapshot-error.ts';
import { type ApplyPlace, type ApplyStep, at, pathIn, performApply, planSteps, takeBackApply } from './apply-steps.ts';
import { type FileInUse, filesInUse } from './files-in-use.ts';
import type { Layer } from './layer.ts';
import { type Identity, identityOf, isSame, type LayerChange } from './layer-change.ts';
import { mountPointOf, mountPoints } from './mount-table.ts';

export interface ApplyOptions {
  readonly layer: Pick<Layer, 'id' | 'root' | 'directory' | 'place'>;
  readonly changes: readonly LayerChange[];
  readonly call: {
    readonly id: string;
    readonly key: string;
    readonly tool: string;
    readonly startedAt: number;
    readonly evaluation?: string;
  };
  /** When the replaced entries were checked, on the clock of the root's filesystem. */
  readonly lookedAt: bigint;
  /** The tree that the changes replace, and its store: durable before the first step. */
  readonly before: { readonly tree: Digest; readonly store: ContentStore } | null;
  /** The log that will record the call's success. */
  readonly checkpoints: string | null;
  /** Whether a person chose to replace a file although these programs have it open. */
  readonly isReplacedAnyway?: (file: FileInUse) => boolean;
  /** Called with paths that could not be reverted, before the entries they replaced are deleted. */
  readonly onLeft?: (paths: readonly string[]) => Promise<void>;
  readonly files: HostFiles;
  readonly undoLog: UndoLog;
}

/** Changes that are in the root. If the process dies they are reverted, unless the
 * log says by then that the call succeeded. */
export interface AppliedChanges {
  /** Deletes what a revert would need. */
  finish(): Promise<void>;
  takeBack(): Promise<Result<void, StateError>>;
}

export type ApplyResult =
  /** `inUse`: files that a person chose to replace although programs have them open. */
  | { readonly kind: 'applied'; readonly applied: AppliedChanges; readonly inUse: readonly FileInUse[] }
  /** These paths changed after the changes were read, or these files are in use. Nothing is applied. */
  | { readonly kind: 'changed'; readonly paths: readonly string[]; readonly inUse: readonly FileInUse[] }
  /** `left`: paths that could not be reverted because somebody changed them meanwhile. */
  | { readonly kind: 'failed'; readonly error: StateError; readonly left: readonly string[] };

/**
 * Applies a change set, all or nothing.
 *
 * 1. New entries are on the root's filesystem, and synced, before the first step.
 * 2. The steps are durably recorded before the first of them.
 * 3. A path that has changed since it was checked stops it: completed steps are reverted, and nothing is overwritten.
 * 4. Replaced and removed entries are checked once more afterwards: a write in the meantime stops it too, and so does a program that has
 *    one of them open for writing. From then on no program can open them, so whoever is not found now never loses a write.
 */
export async function applyChanges(options: ApplyOptions): Promise<ApplyResult> {
  const { layer, changes, call, files, undoLog } = options;
  if (!isPlace(layer.root, layer.place)) return failed(rootMoved(layer.root));
  const isNear = sharesMount(layer.root, layer.directory);
  const staging = isNear ? layer.directory : `${layer.root}/${applyName(layer.id)}`;
  const place: ApplyPlace = { files, root: layer.root, staging };
  const put = (steps: readonly ApplyStep[]) =>
    undoLog.put({
      version: 1,
      ...{ id: call.key, callId: call.id, tool: call.tool, startedAt: call.startedAt },
      ...defined({ evaluation: call.evaluation }),
      work: {
        ...{ kind: 'layer', root: layer.root, place: layer.place, layer: layer.id, staging },
        ...{ steps: [...steps], before: options.before?.tree ?? null, checkpoints: options.checkpoints },
      },
    });
  const abandon = async (left: readonly string[] = []) => {
    if (left.length > 0) await options.onLeft?.(left);
    await undoLog.remove(call.key);
    if (!isNear) removeTree(files, staging);
  };

  let steps: readonly ApplyStep[];
  try {
    // The next process must be able to find copies in the root.
    if (!isNear) await put([]);
    const copies = isNear ? undefined : copyNear(files, layer, staging, changes);
    const from = (path: string) => copies?.get(path) ?? `upper/${path}`;
    steps = planned(layer.root, copies === undefined ? changes : withCopies(changes, staging, copies), from);
    // Steps recorded before their contents are durable have not begun: there is nothing to revert.
    await all([options.before?.store.sync(), syncContents(files, place, steps), put(steps)]);
  } catch (cause) {
    await abandon().catch(() => {});
    return failed(applyFailed(reasonOf(cause)));
  }

  const outcome = performApply(place, steps);
  let late = outcome.kind === 'changed' ? [outcome.path] : [];
  const inUse: FileInUse[] = [];
  const anyway: FileInUse[] = [];
  let cause = outcome.kind === 'failed' ? { at: outcome.path, of: outcome.cause } : undefined;
  // Meanwhile the disk can work.
  const synced = outcome.kind === 'done' ? syncDirectories(files, place, steps) : undefined;
  synced?.catch(() => {});
  try {
    if (outcome.kind === 'done') {
      late = [...lateChanges(place, steps, options.lookedAt)];
      for (const file of late.length > 0 ? [] : keptInUse(place, steps)) {
        (options.isReplacedAnyway?.(file) === true ? anyway : inUse).push(file);
      }
    }
  } catch (thrown) {
    cause = { at: place.staging, of: thrown };
  }
  if (outcome.kind !== 'done' || cause !== undefined || late.length > 0 || inUse.length > 0) {
    await synced?.catch(() => {});
    const left = takeBackApply(place, steps, outcome.kind === 'done' ? steps.length : outcome.done);
    await abandon(left);
    if (left.length > 0) return failed(halfDone(place, steps, left), left);
    if (cause === undefined) return { kind: 'changed', paths: late, inUse };
    return failed(applyFailed(`${cause.at}: ${reasonOf(cause.of)}`));
  }
  await synced;
  const applied: AppliedChanges = {
    async finish() {
      // A record that reappears finds its checkpoint written, and nothing to do.
      await undoLog.remove(call.key, { durable: options.checkpoints === null });
      if (!isNear) removeTree(files, staging);
    },
    async takeBack() {
      const left = takeBackApply(place, steps, steps.length);
      await abandon(left);
      return left.length === 0 ? ok(undefined) : err(halfDone(place, steps, left));
    },
  };
  return { kind: 'applied', applied, inUse: anyway };
}

function planned(root: string, changes: readonly LayerChange[], from: (path: string) => string): readonly ApplyStep[] {
  const below = lookIntoClosed(root);
  try {
    return planSteps(changes, from, path => {
      const stat = below.stat(path);
      return stat?.isDirectory() ? attributesOf(identityOf(stat)) : undefined;
    });
  } finally {
    below.close();
  }
}

/** Waits for all of them, even if one fails: a running one would undo the clean-up. */
async function all(works: readonly (Promise<unknown> | undefined)[]): Promise<void> {
  for (const work of await Promise.allSettled(works)) if (work.status === 'rejected') throw work.reason;
}

function failed(error: StateError, left: readonly string[] = []): ApplyResult {
  return { kind: 'failed', error, left };
}

/** Writes to replaced files, or into removed directories, after they were checked. */
function lateChanges(place: ApplyPlace, steps: readonly ApplyStep[], lookedAt: bigint): readonly string[] {
  const moved = new Map(
    steps.flatMap(step => ('was' in step && step.was !== null && 'ino' in step.was ? [[step.was.ino, step.was]] : [])),
  );
  return steps.flatMap(step => {
    if (step.op !== 'aside' && (step.op !== 'put' || step.was === null)) return [];
    const kept = `${place.staging}/${step.as}`;
    const now = at(kept);
    if (now === undefined || step.was === null) return [];
    if (now.kind === 'directory') return newerInside(kept, step.path, lookedAt, moved);
    return isSame(now, step.was) ? [] : [step.path];
  });
}

/** The replaced and removed files that are in use, by their paths in the root. */
function keptInUse({ staging }: ApplyPlace, steps: readonly ApplyStep[]): readonly FileInUse[] {
  const asides = steps.flatMap(step =>
    step.op === 'aside' || (step.op === 'put' && step.was !== null) ? [[step.as, step.path] as const] : [],
  );
  return filesInUse(
    staging,
    asides.map(([as]) => as),
  ).map(file => {
    const [as, path] = asides.find(([one]) => isWithin(file.path, one)) ?? ['', ''];
    return { ...file, path: `${path}${file.path.slice(as.length)}` };
  });
}

/**
 * Entries of a directory that changed since an instant. A closed entry was opened to be kept, which changes its ctime; a write
 * changes its mtime too. So does a step that moved another name of the same file: `moved` has what such a file was, by inode.
 */
export function newerInside(
  directory: string,
  path: string,
  since: bigint,
  moved: ReadonlyMap<string, Identity> = new Map(),
): readonly string[] {
  const below = lookIntoClosed(directory);
  const newer: string[] = [];
  const look = (inside: string) => {
    for (const name of below.names(inside)) {
      const at = joined(inside, name);
      const stat = below.stat(at);
      if (stat === undefined) continue;
      const was = stat.isDirectory() ? undefined : moved.get(String(stat.ino));
      const isNewer = was ? !isSame(identityOf(stat), was) : (isClosed(stat) ? stat.mtimeNs : stat.ctimeNs) >= since;
      if (isNewer) newer.push(joined(path, at));
      if (stat.isDirectory()) look(at);
    }
  };
  try {
    look('');
    return newer;
  } finally {
    below.close();
  }
}

/** Where new entries are staged for a root on another filesystem. */
function applyName(layer: string): string {
  return `.signalbox-apply-${layer}`;
}

export function isPlace(root: string, place: Layer['place']): boolean {
  const stat = fs.lstatSync(root, { bigint: true, throwIfNoEntry: false });
  return stat?.isDirectory() === true && String(stat.dev) === place.dev && String(stat.ino) === place.ino;
}

function sharesMount(root: string, directory: string): boolean {
  const points = mountPoints();
  const isOneMount = mountPointOf(root, points) === mountPointOf(directory, points);
  return isOneMount && fs.statSync(root).dev === fs.statSync(directory).dev;
}

/** Copies a layer's new entries next to the root, and returns the names of the copies. */
function copyNear(
  files: HostFiles,
  layer: Pick<Layer, 'directory'>,
  staging: string,
  changes: readonly LayerChange[],
): ReadonlyMap<string, string> {
  removeTree(files, staging);
  files.mkdir(staging, 0o700);
  const names = new Map<string, string>();
  for (const change of changes) {
    if (change.op !== 'put') continue;
    const full = `${layer.directory}/upper/${change.path}`;
    const from = osPath(full);
    const name = `new-${names.size}`;
    const to = osPath(`${staging}/${name}`);
    names.set(change.path, name);
    const { mode, uid, gid, mtime, kind } = change.now;
    if (kind === 'link') fs.symlinkSync(fs.readlinkSync(from, { encoding: 'buffer' }), to);
    else if (kind === 'file') whileOpen(full, () => fs.copyFileSync(from, to, fs.constants.COPYFILE_FICLONE));
    else throw new Error(`${change.path} is a pipe, and cannot be copied to another filesystem`);
    if (process.geteuid?.() === 0) fs.lchownSync(to, uid, gid);
    if (kind !== 'file') continue;
    fs.chmodSync(to, mode);
    const seconds = Number(BigInt(mtime) / 1000n) / 1e6;
    fs.utimesSync(to, seconds, seconds);
  }
  return names;
}

/** The same changes, using the copies. */
function withCopies(
  changes: readonly LayerChange[],
  staging: string,
  names: ReadonlyMap<string, string>,
): readonly LayerChange[] {
  return changes.map(change => {
    const now = change.op === 'put' ? at(`${staging}/${names.get(change.path)}`) : undefined;
    return change.op === 'put' && now !== undefined ? { ...change, now } : change;
  });
}

/** Above this, one sync of the whole filesystem is cheaper than one per file. */
const SYNC_ALL_FROM = 64;

async function syncContents(files: HostFiles, place: ApplyPlace, steps: readonly ApplyStep[]): Promise<void> {
  const contents = steps.flatMap(step =>
    step.op === 'put' && step.now.kind === 'file' ? [`${place.staging}/${step.from}`] : [],
  );
  await syncMany(files, contents, place.staging);
}

async function syncDirectories(files: HostFiles, place: ApplyPlace, steps: readonly ApplyStep[]): Promise<void> {
  const parents = new Set(steps.flatMap(({ op, path }) => (op === 'attributes' ? [path] : [parentOf(path)])));
  const paths = [...parents].map(path => pathIn(place, path));
  const open = paths.filter(path => isOpen(path));
  // A file that can no longer be opened cannot be synced on its own.
  if (open.length < paths.length && files.syncFilesystem !== undefined) await files.syncFilesystem(place.staging);
  else await syncMany(files, open, place.staging);
}

function isOpen(directory: string): boolean {
  try {
    fs.accessSync(osPath(directory), fs.constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** Syncs many paths of one filesystem, of which `on` is a path. */
export async function syncMany(files: HostFiles, paths: readonly string[], on: string): Promise<void> {
  if (paths.length >= SYNC_ALL_FROM && files.syncFilesystem !== undefined) await files.syncFilesystem(on);
  else await syncAll(files, paths);
}

function halfDone({ staging }: ApplyPlace, steps: readonly ApplyStep[], left: readonly string[]): StateError {
  const others = steps.map(({ path }) => path).filter(path => !left.includes(path));
  return restoreFailed('someone changed what was being applied, and it could not be taken back whole', {
    state: 'partly-restored',
    restored: others,
    notRestored: left,
    staging,
  });
}

export function rootMoved(root: string): StateError {
  return restoreFailed(`${root} is not the directory any more that the command worked on`, { state: 'unchanged' });
}
