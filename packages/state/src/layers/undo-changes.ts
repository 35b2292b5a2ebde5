import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { type Digest, err, ok, type Result } from '@signalbox/model';
import type { CallChanges, Leaf } from '../checkpoints/call-changes.ts';
import { type ClosedPaths, lookIntoClosed, parentOf } from '../filesystem/closed-paths.ts';
import { ContentFault, type ContentStore, streamDigest } from '../filesystem/content-store.ts';
import type { HostFiles } from '../filesystem/host-files.ts';
import { ownerLost, ownershipHere } from '../filesystem/ownership.ts';
import { isWithin } from '../filesystem/path-locks.ts';
import { nameFromBytes, osPath } from '../filesystem/path-name.ts';
import { removeTree } from '../filesystem/remove-tree.ts';
import { reasonOf } from '../filesystem/system-reason.ts';
import { joined } from '../filesystem/tree.ts';
import type { UndoLog } from '../filesystem/undo-log.ts';
import { conflict, restoreFailed, type StateError } from '../snapshots/snapshot-error.ts';
import { applyChanges } from './apply-changes.ts';
import { at } from './apply-steps.ts';
import { filesInUse, inUseError } from './files-in-use.ts';
import { instantNear } from './filesystem-instant.ts';
import type { Layer } from './layer.ts';
import { type Identity, identityOf, type LayerChange } from './layer-change.ts';

export interface UndoChangesOptions {
  readonly root: string;
  readonly place: Layer['place'];
  /** Where restored entries are staged, outside the root. */
  readonly home: string;
  readonly changes: CallChanges;
  /** Names the undo in the undo log. */
  readonly id: string;
  readonly store: ContentStore;
  readonly files: HostFiles;
  readonly undoLog: UndoLog;
  readonly dryRun?: boolean;
}

export interface UndoneChanges {
  /** Paths that were restored. */
  readonly paths: readonly string[];
  /** Paths that could not be restored: they were never stored. */
  readonly lost: readonly string[];
}

/**
 * Undoes the changes of calls path by path, all or nothing. A path that matches neither what the calls left nor the target is
 * a conflict, and so is anything that somebody put into a directory to be removed: then nothing is changed.
 */
export async function undoChanges(options: UndoChangesOptions): Promise<Result<UndoneChanges, StateError>> {
  const { root, changes, files } = options;
  fs.mkdirSync(options.home, { recursive: true, mode: 0o700 });
  const lookedAt = await instantNear(root, options.home);
  const closed = lookIntoClosed(root);
  let looked: Looked;
  try {
    looked = await lookAt(changes, closed);
  } catch (cause) {
    return err(restoreFailed(reasonOf(cause), { state: 'unchanged' }));
  } finally {
    closed.close();
  }
  if (looked.conflicts.length > 0) return err(conflict(looked.conflicts));
  const { wanted, lost } = looked;
  const open = filesInUse(
    root,
    wanted.flatMap(({ path, there }) => (there?.kind === 'file' ? [path] : [])),
  );
  if (open.length > 0) return err(inUseError(open));
  const paths = wanted.map(({ path }) => path);
  if (options.dryRun === true || wanted.length === 0) return ok({ paths, lost });
  const id = randomUUID();
  const directory = `${options.home}/${id}`;
  try {
    files.mkdir(directory, 0o700);
    const inverse = await staged(options, directory, wanted);
    const result = await applyChanges({
      layer: { id, root, directory, place: options.place },
      changes: inverse,
      call: { id: options.id, key: `${root}\n${options.id}`, tool: 'undo', startedAt: files.now() },
      lookedAt,
      before: null,
      ...{ checkpoints: null, files, undoLog: options.undoLog },
    });
    if (result.kind === 'failed') return err(result.error);
    if (result.kind === 'changed')
      return err(result.inUse.length > 0 ? inUseError(result.inUse) : conflict(result.paths));
    await result.applied.finish();
    return ok({ paths, lost });
  } catch (cause) {
    if (cause instanceof ContentFault) return err(cause.error);
    return err(restoreFailed(reasonOf(cause), { state: 'unchanged' }));
  } finally {
    removeTree(files, directory);
  }
}

interface Wanted {
  readonly path: string;
  readonly before: Leaf | undefined;
  readonly there: Identity | undefined;
}

interface Looked {
  readonly wanted: readonly Wanted[];
  readonly lost: readonly string[];
  readonly conflicts: readonly string[];
}

async function lookAt(changes: CallChanges, below: ClosedPaths): Promise<Looked> {
  const wanted: Wanted[] = [];
  const lost: string[] = [];
  const conflicts: string[] = [];
  const owners = ownershipHere();
  for (const [path, { before, after }] of changes) {
    const stat = below.stat(path);
    const there = stat && identityOf(stat);
    if (before?.kind === 'special' || before?.kind === 'opaque') {
      lost.push(path);
      continue;
    }
    if (await isAs(below, path, there, before)) continue;
    if (before?.kind === 'file' && before.digest === null) {
      lost.push(path);
      continue;
    }
    if (await isAs(below, path, there, after)) {
      wanted.push({ path, before, there });
      // Files that we may not give away are restored as ours.
      const isOwned = before?.kind === 'file' || before?.kind === 'directory';
      if (isOwned && !owners.canGive(before)) lost.push(ownerLost(path));
    } else conflicts.push(path);
  }
  for (const { path, before, there } of wanted) {
    if (before !== undefined || there?.kind !== 'directory') continue;
    for (const name of below.names(path)) if (!changes.has(joined(path, name))) conflicts.push(joined(path, name));
  }
  return { wanted, lost, conflicts };
}

/** Whether the disk matches a leaf. For a directory, only its own attributes count. */
async function isAs(
  below: ClosedPaths,
  path: string,
  there: Identity | undefined,
  leaf: Leaf | undefined,
): Promise<boolean> {
  if (there === undefined || leaf === undefined) return there === undefined && leaf === undefined;
  switch (leaf.kind) {
    case 'directory':
      return there.kind === 'directory' && there.mode === leaf.mode;
    case 'link':
      return there.kind === 'link' && linkTarget(below.fullOf(path)) === leaf.target;
    case 'file': {
      if (there.kind !== 'file' || there.mode !== leaf.mode || Number(there.size) !== leaf.size) return false;
      if (leaf.digest !== null) return (await digestOf(below.openFile(path))) === leaf.digest;
      const { stamp } = leaf;
      return stamp?.ino === Number(there.ino) && stamp.mtimeMs === Number(there.mtime) / 1e6;
    }
    case 'special':
      return there.kind === 'pipe' || there.kind === 'other';
    case 'opaque':
      return there.kind === 'directory';
  }
}

/** The changes that restore everything, with new entries in the directory's `upper`. */
async function staged(
  { files, store }: UndoChangesOptions,
  directory: string,
  wanted: readonly Wanted[],
): Promise<readonly LayerChange[]> {
  const removes: LayerChange[] = [];
  const makes: LayerChange[] = [];
  const puts: LayerChange[] = [];
  const attributes: LayerChange[] = [];
  for (const { path, before, there } of wanted.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    const isGone = removes.some(one => isWithin(path, one.path));
    const stays =
      before?.kind === there?.kind ||
      (before !== undefined && before.kind !== 'directory' && there?.kind !== 'directory');
    if (there !== undefined && !stays && !isGone) removes.push({ op: 'remove', path, was: there });
    if (before === undefined) continue;
    if (before.kind === 'directory') {
      const now = { ...DIRECTORY, mode: before.mode, uid: before.uid, gid: before.gid };
      if (there?.kind === 'directory') attributes.push({ op: 'attributes', path, now, was: there });
      else makes.push({ op: 'make', path, now });
      continue;
    }
    const copy = `${directory}/upper/${path}`;
    makeParents(files, `${directory}/upper`, path);
    await write(files, store, copy, before);
    const now = at(copy);
    if (now === undefined) throw new Error(`${path} could not be staged`);
    puts.push({ op: 'put', path, now, was: there === undefined || !stays ? null : there });
  }
  return [...removes, ...makes, ...puts, ...attributes];
}

const DIRECTORY = { kind: 'directory', ino: '', mtime: '', size: '' } as const;

async function write(files: HostFiles, store: ContentStore, path: string, leaf: Leaf): Promise<void> {
  if (leaf.kind === 'link') return files.symlink(leaf.target, path);
  if (leaf.kind !== 'file' || leaf.digest === null) throw new Error(`${path} was never kept`);
  const writer = files.create(path, 0o600);
  try {
    for await (const chunk of store.read(leaf.digest)) writer.write(chunk);
  } finally {
    writer.close();
  }
  if (process.geteuid?.() === 0) files.chown(path, leaf.uid, leaf.gid);
  files.chmod(path, leaf.mode);
}

function makeParents(files: HostFiles, upper: string, path: string): void {
  const missing: string[] = [];
  for (let parent = parentOf(path); at(`${upper}/${parent}`) === undefined; parent = parentOf(parent)) {
    missing.unshift(parent);
    if (parent === '') break;
  }
  for (const parent of missing) files.mkdir(parent === '' ? upper : `${upper}/${parent}`, 0o700);
}

/** Closes the descriptor. */
async function digestOf(fd: number): Promise<Digest> {
  const running = streamDigest();
  for await (const chunk of fs.createReadStream('', { fd })) running.update(chunk as Uint8Array);
  return running.digest();
}

function linkTarget(path: string): string {
  return nameFromBytes(fs.readlinkSync(osPath(path), { encoding: 'buffer' }));
}
