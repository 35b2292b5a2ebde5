import * as fs from 'node:fs';
import { type Digest, digest, type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import * as z from 'zod';
import { type GitGuard, type GuardPorts, guardAgain, guardAll, guardPaths } from '../git/git-guard.ts';
import { filesInUse, inUseError } from '../layers/files-in-use.ts';
import type { Layers } from '../layers/layer.ts';
import { createLayering } from '../layers/layering.ts';
import { undoChanges } from '../layers/undo-changes.ts';
import { credentialsOf } from '../sandbox/credentials.ts';
import {
  conflict,
  restoreFailed,
  type StateError,
  snapshotFailed,
  snapshotMalformed,
} from '../snapshots/snapshot-error.ts';
import type { KeptFiles, StagedRestore, StageOptions } from '../snapshots/snapshotable.ts';
import type { ContentStore } from './content-store.ts';
import type { Filesystem, FilesystemSnapshot } from './filesystem.ts';
import { forbiddenPlaces, realDirectory } from './forbidden-places.ts';
import { linkedPaths } from './hard-links.ts';
import { createHostFileAccess } from './host-file-access.ts';
import { type HostFiles, nodeHostFiles } from './host-files.ts';
import { hostPath } from './host-path.ts';
import { type KeptTree, stageHostRestore } from './host-restore.ts';
import { identityOf, type ScanOptions, scanNode, scanPaths, scanTree } from './host-scan.ts';
import type { KeptBook } from './kept-book.ts';
import { keptPaths, withLateChanges } from './kept-files.ts';
import { changedAfter, changedOpaque } from './opaque-changes.ts';
import { openClosedPaths, reachOf } from './opened-paths.ts';
import { isWithin, overlap } from './path-locks.ts';
import { partsOf } from './path-name.ts';
import { directoryPlaces } from './restore-merge.ts';
import type { RestoreStep } from './restore-plan.ts';
import { type RootIdentity, rootReplaced } from './root-identity.ts';
import { freeStaging, namesOf, preparedName, stagingName } from './staging-name.ts';
import { reasonOf } from './system-reason.ts';
import { type DirectoryNode, differingPaths, joined, sameNode, type TreeNode } from './tree.ts';
import { keepTree, loadTree } from './tree-codec.ts';
import type { UndoLog, UndoRecord } from './undo-log.ts';
import { filesRecord, isRestoring, restoring, withKept, withStaging } from './undo-record.ts';

export interface HostFilesystemOptions {
  readonly root: string;
  /**
   * The expected directory, if it was opened before. If another directory or a link is at its path now, nothing is read or
   * written and every call fails with that reason.
   */
  readonly expected?: RootIdentity | undefined;
  readonly store: ContentStore;
  readonly undoLog: UndoLog;
  readonly files?: HostFiles;
  /** Names of directories that are not captured. */
  readonly opaque?: readonly string[];
  /** The data directory: no path may enter it, and it is never read. */
  readonly dataDirectory?: string;
  /** Creates layers of the root, for tools that can work on one. */
  readonly layers?: Layers;
  /** Other directories with the same restriction, such as those with keys. */
  readonly refused?: readonly string[];
  /** Records what rollbacks keep. */
  readonly keptBook?: KeptBook;
}

/** A filesystem on a directory of the host. */
export interface HostFilesystem extends Filesystem {
  readonly root: string;
  /** Why the root's path no longer leads to the root; undefined if it still does. */
  replaced(): StateError | undefined;
  /** The guard of a call whose process died. */
  guardAgain(picture: Digest): Promise<GitGuard | undefined>;
  /** The kept files, including writes up to the moment a restore moved them into a staging directory. */
  keepLate(kept: KeptFiles, steps: readonly RestoreStep[], staging: string): Promise<KeptFiles>;
}

export type RootRefusedError = ErrorEnvelope<'state/path-refused'>;

/** Directories that tools can regenerate, and git's own. */
export const DEFAULT_OPAQUE: readonly string[] = ['.git', '.hg', '.svn', '.jj', 'node_modules', '.venv', '__pycache__'];

const snapshotData = z.strictObject({ root: digest });

export function openHostFilesystem(options: HostFilesystemOptions): Result<HostFilesystem, RootRefusedError> {
  const { store, undoLog, files = nodeHostFiles } = options;
  const { expected } = options;
  const root = expected?.root ?? realDirectory(options.root);
  if (root === undefined) return err(rootRefused('it is not a directory'));
  const data = options.dataDirectory === undefined ? [] : [options.dataDirectory];
  if (root === '/') return err(rootRefused('/ is the whole disk, not a project'));
  const forbidden = forbiddenPlaces([...data, ...(options.refused ?? [])], root);
  if (forbidden.holds(root)) {
    const around = forbidden.paths.find(path => isWithin(root, path)) ?? 'a directory';
    return err(rootRefused(`it is inside ${around}, which is off limits`));
  }
  const opaque = new Set(options.opaque ?? DEFAULT_OPAQUE);
  const kept = new WeakMap<DirectoryNode, Digest>();
  const records = new Map<string, UndoRecord>();
  const stagings = new Set<string>();
  const dev = expected === undefined ? fs.statSync(root).dev : undefined;
  const identity = expected?.identity ?? identityOf(fs.statSync(root));
  const checkRoot = () => rootReplaced(root, identity, dev);
  const isForbidden = (stat: fs.Stats) => forbidden.has(stat);
  /** The last known tree, from a snapshot or a restore: every file in it was read. */
  let known: DirectoryNode | undefined;
  /** Paths changed through this object since. */
  const dirty = new Set<string>();

  const scanOptions = (contents: ContentStore | null, signal?: AbortSignal): ScanOptions => ({
    root,
    // The data directory must survive everything: it is never read, and is moved back if a call moves it.
    opaque: name => opaque.has(name),
    forbidden: isForbidden,
    signal,
    ignored: name => stagings.has(name),
    now: files.now(),
    store: contents,
    passDeep: true,
  });

  /** Scans the disk, or only the given paths if the rest is known, and remembers the result. */
  const look = async (paths: readonly string[] | undefined, signal?: AbortSignal): Promise<DirectoryNode> => {
    const replaced = checkRoot();
    if (replaced !== undefined) throw new Error(replaced.message);
    // What a call that may change anything could not be undone for is refused before it begins.
    const scan = { ...scanOptions(store, signal), passDeep: paths !== undefined };
    const touched = [...dirty];
    const isFirst = known === undefined;
    known =
      paths === undefined || known === undefined
        ? await scanTree(scan, known)
        : await scanPaths(scan, known, [...paths, ...touched].map(partsOf));
    for (const path of touched) dirty.delete(path);
    // A first scan may store a whole disk: it too must end with the call, not after it.
    if (isFirst && signal !== undefined) await store.sync(signal);
    return known;
  };

  const keepSoon = (tree: DirectoryNode): Promise<Digest> => keepTree(store, kept, tree);
  const keep = async (tree: DirectoryNode): Promise<Digest> => {
    const own = await keepSoon(tree);
    await store.sync();
    return own;
  };

  // Layers are stored in the data directory, so a directory that contains it cannot have one.
  const layering =
    options.layers &&
    forbidden.mounted.length === 0 &&
    createLayering({
      ...{ root, layers: options.layers, files, store, undoLog, refillable: opaque, keep: keepSoon },
      ...(options.keptBook && { keptBook: options.keptBook }),
      checkRoot,
      touched(paths) {
        for (const path of paths) dirty.add(path);
      },
    });

  const guarding: GuardPorts = { root, store, files, look: () => look(undefined) };
  const keyOf = (callId: string) => `${root}\n${callId}`;
  const put = async (record: UndoRecord): Promise<void> => {
    await undoLog.put(record);
    records.set(record.id, record);
  };

  const limits = { root, forbidden, opaque, hidden: credentialsOf(root) };
  const access = createHostFileAccess(
    limits,
    async parts => {
      dirty.add(parts.join('/'));
    },
    checkRoot,
  );

  /** Keeps files that a restore discards. Moved files are not discarded. */
  const keptTree = async (tree: DirectoryNode, desired: TreeNode | undefined): Promise<KeptTree> => ({
    tree,
    digest: await keep(tree),
    paths: keptPaths(tree, desired),
  });
  const keepDiscarded = async (discarded: DirectoryNode, desired: DirectoryNode): Promise<KeptTree | undefined> => {
    const places = directoryPlaces(desired);
    const readable = async (directory: DirectoryNode, at: string): Promise<DirectoryNode> => {
      const entries = new Map<string, TreeNode>();
      for (const [name, node] of directory.entries) {
        const path = joined(at, name);
        if (node.kind === 'directory') entries.set(name, await readable(node, path));
        else if (node.kind !== 'opaque') entries.set(name, node);
        else if (!places.has(node.identity)) {
          const whole = (await scanNode(scanOptions(store), path)) ?? node;
          // What is nested too deeply is not kept, and is not said to be.
          if (whole.kind !== 'opaque') entries.set(name, whole);
        }
      }
      return { ...directory, entries };
    };
    const tree = await readable(discarded, '');
    return keptPaths(tree, desired).length === 0 ? undefined : keptTree(tree, desired);
  };

  const stage = async (
    snapshot: FilesystemSnapshot,
    { id, left, paths, endedAt }: StageOptions<FilesystemSnapshot>,
  ): Promise<Result<StagedRestore, StateError>> => {
    const replaced = checkRoot();
    if (replaced !== undefined) return err(replaced);
    const key = keyOf(id);
    const staging = freeStaging(root, key, stagings);
    const own = namesOf(staging);
    for (const name of own) stagings.add(name);
    const settled = left === 'known' ? (known === undefined ? snapshot.tree : await look([])) : snapshot.tree;
    // Only the paths that a call declared are its changes; everywhere else the target is assumed to match already.
    const declared = left === 'present' ? paths : undefined;
    const keeps = left === 'present' && endedAt !== undefined;
    const scan = () =>
      declared === undefined
        ? scanTree(scanOptions(left === 'present' && !keeps ? null : store), known)
        : scanPaths(scanOptions(keeps ? store : null), snapshot.tree, declared.map(partsOf));
    const { now, opened } = await openClosedPaths({ files, root, target: snapshot.tree }, scan);
    let open: ReadonlySet<string> | undefined;
    const isOpen = (path: string) => {
      open ??= new Set(filesInUse(root, differingPaths(snapshot.tree, now)).map(file => file.path));
      return open.has(path);
    };
    const isTheirs = (node: TreeNode, path: string) =>
      (keeps && isAfter(`${root}/${path}`, node, opened.changedAt.get(path), endedAt)) ||
      (node.kind === 'file' && isOpen(path));
    // A call's record may come from an earlier process.
    const ofCall = records.get(key) ?? (await undoLog.pending()).find(record => record.id === key);
    const fresh = filesRecord(key, { id, tool: 'restore' }, root, identity, null, files.now());
    let record = withStaging(restoring(ofCall ?? fresh, staging, null), key, staging, endedAt);
    let committed = false;
    const close = async () => {
      // A record with steps that reappears is finished again, without effect; a call's record would undo later calls.
      await undoLog.remove(key, { durable: ofCall !== undefined && !committed });
      records.delete(key);
      for (const name of own) stagings.delete(name);
    };
    return stageHostRestore({
      files,
      store,
      root,
      staging,
      scan: scanOptions(null),
      opened,
      merge: { reach: reachOf(root), ...(left === 'present' && { isTheirs }) },
      ...(keeps && { keep: { discarded: keepDiscarded, instead: keptTree } }),
      checkRoot,
      refusal(replaced) {
        // A rollback leaves files that are in use alone, instead.
        const inUse = left === 'present' ? [] : filesInUse(root, replaced);
        return inUse.length === 0 ? undefined : inUseError(inUse);
      },
      refusalAfter(asides) {
        const within = `${root}/${staging}`;
        const inUse = filesInUse(within, asides.keys()).map(file => ({ ...file, path: originalOf(file.path, asides) }));
        if (inUse.length === 0) return undefined;
        // A rollback is tried again, and finds them.
        return left === 'present' ? conflict(inUse.map(({ path }) => path)) : inUseError(inUse);
      },
      trees: {
        left: left === 'present' ? now : left === 'known' ? settled : left.snapshot.tree,
        target: snapshot.tree,
        now,
      },
      // Steps recorded by an earlier attempt must not be mistaken for this one's.
      async begin(kept) {
        const renamed = staging !== stagingName(key);
        if (kept !== null) record = withKept(record, kept);
        if (ofCall === undefined || isRestoring(ofCall) || renamed) await put(record);
      },
      abandon: async () => (ofCall === undefined ? close() : undefined),
      async commit(steps) {
        await put(restoring(record, staging, steps));
        committed = steps !== null;
      },
      async keptAll(all) {
        const { callId: call, tool, evaluation, work } = record;
        if (work.kind !== 'files' || work.before === null) return;
        await options.keptBook?.add({ call, tool, evaluation, root, before: work.before, kept: all });
      },
      async done(tree) {
        known = tree;
        await close();
      },
    });
  };

  return ok({
    ...access,
    root,
    replaced: checkRoot,
    refused: forbidden.paths,
    lockPath: root,
    ...(layering && { layering }),
    async snapshot(how = {}) {
      const replaced = checkRoot();
      if (replaced !== undefined) return err(replaced);
      try {
        return ok({ tree: await look(how.paths, how.signal) });
      } catch (cause) {
        known = undefined;
        return err(snapshotFailed(reasonOf(cause)));
      }
    },
    async stage(snapshot, how) {
      try {
        return await stage(snapshot, how);
      } catch (cause) {
        return err(restoreFailed(reasonOf(cause), { state: 'unchanged' }));
      }
    },
    async undo(changes, how) {
      const there = fs.lstatSync(root, { bigint: true, throwIfNoEntry: false });
      const replaced = checkRoot();
      if (replaced !== undefined || there === undefined) return err(replaced ?? snapshotFailed(`${root} is gone`));
      const place = { dev: String(there.dev), ino: String(there.ino) };
      const home = options.layers?.home ?? `${options.dataDirectory ?? root}/layers`;
      const undone = await undoChanges({ root, place, home, changes, store, files, undoLog, ...how });
      for (const path of changes.keys()) dirty.add(path);
      return undone;
    },
    encode: async ({ tree }) => ({ root: await keep(tree) }),
    async decode(json) {
      const parsed = snapshotData.safeParse(json);
      if (!parsed.success)
        return err(snapshotMalformed('a filesystem snapshot must name its root') satisfies StateError);
      const loaded = await loadTree(store, parsed.data.root);
      return loaded.ok ? ok({ tree: loaded.value }) : loaded;
    },
    equivalent: (a, b) => sameNode(a.tree, b.tree),
    guard: (before, paths) => (paths === undefined ? guardAll(guarding, before.tree) : guardPaths(guarding, paths)),
    guardAgain: picture => guardAgain(guarding, picture),
    async begin(call) {
      const replaced = checkRoot();
      if (replaced !== undefined) return err(replaced);
      const pending = await undoLog.pending();
      const unfinished = pending.find(({ work }) => work.kind !== 'external' && overlap(work.root, root));
      if (unfinished !== undefined) return err(recoveryNeeded(unfinished));
      const startedAt = files.now();
      const before = await keep(call.before.tree);
      await put(filesRecord(keyOf(call.id), call, root, identity, before, startedAt));
      return ok({ startedAt });
    },
    async keepLate(kept, steps, staging) {
      const tree = await loadTree(store, kept.digest);
      if (!tree.ok) return kept;
      const scan = { ...scanOptions(store), root: staging };
      const late = await withLateChanges(tree.value, steps, (as, before) => scanNode(scan, String(as), before));
      if (late === undefined) return kept;
      const { digest, paths } = await keptTree(late, undefined);
      return { digest, paths: [...new Set([...kept.paths, ...paths])] };
    },
    locate(path) {
      const at = hostPath(limits, path, { followLast: true, change: false });
      return at.ok ? ok(at.value.parts.join('/')) : at;
    },
    linkedPaths: (paths, signal) => linkedPaths(root, paths.map(partsOf), () => look(undefined, signal)),
    async alive(id) {
      await undoLog.touch(keyOf(id));
    },
    async mark(id) {
      const path = `${root}/${preparedName(stagingName(keyOf(id)))}`;
      try {
        files.create(path, 0o600).close();
        const { ctimeMs } = fs.lstatSync(path);
        files.unlink(path);
        return ctimeMs;
      } catch {
        // A call may have closed its root: then the machine's coarser clock is used.
        return files.now() + 1;
      }
    },
    async end(id) {
      await undoLog.remove(keyOf(id));
      records.delete(keyOf(id));
    },
    changedOpaque: async (before, since) => changedOpaque(root, before.tree, since, isForbidden),
  });
}

/** Whether something changed after an instant. Directories do not count: their times change with their entries. */
function isAfter(path: string, node: TreeNode, changedAt: number | undefined, instant: number): boolean {
  if (node.kind === 'directory') return false;
  if (node.kind === 'opaque') return changedAfter(path, instant);
  return (changedAt ?? node.stamp?.ctimeMs ?? 0) > instant;
}

/** The path in the root of an entry that was moved into a staging directory. */
function originalOf(path: string, asides: ReadonlyMap<string, string>): string {
  const [as = ''] = path.split('/');
  return `${asides.get(as)}${path.slice(as.length)}`;
}

function recoveryNeeded({ callId, tool }: UndoRecord): ErrorEnvelope<'state/recovery-needed'> {
  return failure('state/recovery-needed', {
    message: `call ${callId} of ${tool} was interrupted in this directory, and its changes are not undone yet`,
    suggestion: 'Recover the directory, then call again.',
    retry: { kind: 'retryable_immediate' },
  });
}

function rootRefused(reason: string): RootRefusedError {
  return failure('state/path-refused', {
    message: `the directory cannot be a working directory: ${reason}`,
    suggestion: 'Give an existing directory outside the data directory and other forbidden ones.',
  });
}
