import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { type Digest, digest, type ErrorEnvelope, err, failure, ok, type Result } from '@signalbox/model';
import * as z from 'zod';
import { type StateError, snapshotFailed, snapshotMalformed } from '../snapshots/snapshot-error.ts';
import type { StageOptions } from '../snapshots/snapshotable.ts';
import type { ContentStore } from './content-store.ts';
import type { Filesystem, FilesystemSnapshot } from './filesystem.ts';
import { linkedPaths } from './hard-links.ts';
import { createHostFileAccess } from './host-file-access.ts';
import { type HostFiles, nodeHostFiles } from './host-files.ts';
import { hostPath } from './host-path.ts';
import { closedName, preparedName, reasonOf, stageHostRestore } from './host-restore.ts';
import { type ScanOptions, scanPaths, scanTree } from './host-scan.ts';
import { changedOpaque } from './opaque-changes.ts';
import { isWithin } from './path-locks.ts';
import { osPath, pathParts } from './path-name.ts';
import type { RestoreStep } from './restore-plan.ts';
import { type DirectoryNode, sameNode } from './tree.ts';
import { keepTree, loadTree } from './tree-codec.ts';
import type { UndoLog, UndoRecord } from './undo-log.ts';

export interface HostFilesystemOptions {
  readonly root: string;
  readonly store: ContentStore;
  readonly undoLog: UndoLog;
  readonly files?: HostFiles;
  /** Names of directories that are not captured. */
  readonly opaque?: readonly string[];
  /** Where the program keeps its own data: no path may enter it, and it is never looked into. */
  readonly dataDirectory?: string;
  /** Other directories of which the same holds, such as those with keys. */
  readonly refused?: readonly string[];
}

/** A filesystem on a directory of the host. */
export interface HostFilesystem extends Filesystem {
  readonly root: string;
}

export type RootRefusedError = ErrorEnvelope<'state/path-refused'>;

/** Directories that tools fill and that can be made again, and git's own. */
export const DEFAULT_OPAQUE: readonly string[] = ['.git', '.hg', '.svn', '.jj', 'node_modules', '.venv', '__pycache__'];

const snapshotData = z.strictObject({ root: digest });

export function openHostFilesystem(options: HostFilesystemOptions): Result<HostFilesystem, RootRefusedError> {
  const { store, undoLog, files = nodeHostFiles } = options;
  const root = realDirectory(options.root);
  if (root === undefined) return err(rootRefused('it is not a directory'));
  const data = options.dataDirectory === undefined ? [] : [options.dataDirectory];
  const forbidden = [...data, ...(options.refused ?? [])].flatMap(path => realDirectory(path) ?? []);
  const around = forbidden.find(path => isWithin(root, path));
  if (around !== undefined) return err(rootRefused(`it is inside ${around}, which may not be entered`));
  const opaque = new Set(options.opaque ?? DEFAULT_OPAQUE);
  const kept = new WeakMap<DirectoryNode, Digest>();
  const records = new Map<string, UndoRecord>();
  const stagings = new Set<string>();
  const isForbidden = (path: string) => forbidden.includes(`${root}/${path}`);
  /** What was last seen, by a snapshot or after a restore: every file in it was read. */
  let known: DirectoryNode | undefined;
  /** What was changed through this object since. */
  const dirty = new Set<string>();

  const scanOptions = (contents: ContentStore | null): ScanOptions => ({
    root,
    // The data directory must outlive everything: it is never looked into, and follows home if a call moves it.
    opaque: (path, name) => opaque.has(name) || isForbidden(path),
    ignored: name => stagings.has(name),
    now: files.now(),
    store: contents,
  });

  /** Looks at the disk, at the paths alone where the rest is known, and remembers what it saw. */
  const look = async (paths: readonly string[] | undefined): Promise<DirectoryNode> => {
    const scan = scanOptions(store);
    const touched = [...dirty];
    known =
      paths === undefined || known === undefined
        ? await scanTree(scan, known)
        : await scanPaths(scan, known, [...paths, ...touched].map(partsOf));
    for (const path of touched) dirty.delete(path);
    return known;
  };

  const keep = async (tree: DirectoryNode): Promise<Digest> => {
    const own = await keepTree(store, kept, tree);
    await store.sync();
    return own;
  };

  const keyOf = (callId: string) => `${root}\n${callId}`;
  const put = async (record: UndoRecord): Promise<void> => {
    await undoLog.put(record);
    records.set(record.id, record);
  };

  const limits = { root, forbidden, opaque };
  const access = createHostFileAccess(limits, async parts => {
    dirty.add(parts.join('/'));
  });

  const stage = async (snapshot: FilesystemSnapshot, { id, left, paths }: StageOptions<FilesystemSnapshot>) => {
    const key = keyOf(id);
    const staging = stagingName(key);
    const own = [preparedName(staging), staging, closedName(staging)];
    for (const name of own) stagings.add(name);
    const settled = left === 'known' ? (known === undefined ? snapshot.tree : await look([])) : snapshot.tree;
    // Only the paths that a call declared are its doing; everywhere else the target is taken to be there already.
    const declared = left === 'present' ? paths : undefined;
    const now =
      declared === undefined
        ? await scanTree(scanOptions(left === 'present' ? null : store), known)
        : await scanPaths(scanOptions(null), snapshot.tree, declared.map(partsOf));
    // A call's record may be one that a process before this one left.
    const ofCall = records.get(key) ?? (await undoLog.pending()).find(record => record.id === key);
    const record =
      ofCall === undefined
        ? filesRecord(key, id, 'restore', root, null, files.now(), undefined)
        : restoring(ofCall, staging, null);
    let committed = false;
    const close = async () => {
      // A record with steps that comes back is finished again, without effect; a call's would undo later calls.
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
      trees: {
        left: left === 'present' ? now : left === 'known' ? settled : left.snapshot.tree,
        target: snapshot.tree,
        now,
      },
      // Steps that an earlier attempt wrote down must not be taken for this one's.
      begin: async () => (ofCall === undefined || isRestoring(ofCall) ? put(record) : undefined),
      abandon: async () => (ofCall === undefined ? close() : undefined),
      async commit(steps) {
        await put(restoring(record, staging, steps));
        committed = steps !== null;
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
    refused: forbidden,
    lockPath: root,
    async snapshot(how = {}) {
      try {
        return ok({ tree: await look(how.paths) });
      } catch (cause) {
        known = undefined;
        return err(snapshotFailed(reasonOf(cause)));
      }
    },
    async stage(snapshot, how) {
      try {
        return await stage(snapshot, how);
      } catch (cause) {
        return err(snapshotFailed(reasonOf(cause)));
      }
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
    async begin(call) {
      const pending = await undoLog.pending();
      const unfinished = pending.find(({ work }) => work.kind === 'files' && overlap(work.root, root));
      if (unfinished !== undefined) return err(recoveryNeeded(unfinished));
      const startedAt = files.now();
      await put(
        filesRecord(keyOf(call.id), call.id, call.tool, root, await keep(call.before.tree), startedAt, call.paths),
      );
      return ok({ startedAt });
    },
    locate(path) {
      const at = hostPath(limits, path, { followLast: true, change: false });
      return at.ok ? ok(at.value.parts.join('/')) : at;
    },
    linkedPaths: paths => linkedPaths(root, paths.map(partsOf), () => look(undefined)),
    async end(id) {
      await undoLog.remove(keyOf(id));
      records.delete(keyOf(id));
    },
    changedOpaque: async (before, since) => changedOpaque(root, before.tree, since).filter(path => !isForbidden(path)),
  });
}

/** The same for the same call, so that whoever finishes a restore finds what was staged. */
export function stagingName(id: string): string {
  return `.signalbox-restore-${createHash('sha256').update(id).digest('hex').slice(0, 16)}`;
}

function filesRecord(
  id: string,
  callId: string,
  tool: string,
  root: string,
  before: Digest | null,
  startedAt: number,
  paths: readonly string[] | undefined,
): UndoRecord {
  const limit = paths === undefined ? {} : { paths: [...paths] };
  return { version: 1, id, callId, tool, startedAt, work: { kind: 'files', root, before, ...limit } };
}

/** The record of a restore that may have changed something; null: of one that has not. */
function restoring(record: UndoRecord, staging: string, steps: readonly RestoreStep[] | null): UndoRecord {
  if (record.work.kind !== 'files') return record;
  const { restoring: _, ...work } = record.work;
  return { ...record, work: steps === null ? work : { ...work, restoring: { staging, steps: [...steps] } } };
}

function isRestoring({ work }: UndoRecord): boolean {
  return work.kind === 'files' && work.restoring !== undefined;
}

function partsOf(path: string): readonly string[] {
  const parts = pathParts(path);
  return parts.ok ? parts.value : [];
}

function realDirectory(path: string): string | undefined {
  try {
    const real = fs.realpathSync.native(osPath(path));
    return fs.statSync(real).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}

function overlap(a: string, b: string): boolean {
  return isWithin(a, b) || isWithin(b, a);
}

function recoveryNeeded({ callId, tool }: UndoRecord): ErrorEnvelope<'state/recovery-needed'> {
  return failure('state/recovery-needed', {
    message: `call ${callId} of ${tool} was cut short in this directory, and its changes are not undone yet`,
    suggestion: 'Recover the directory, then call again.',
    retry: { kind: 'retryable_immediate' },
  });
}

function rootRefused(reason: string): RootRefusedError {
  return failure('state/path-refused', {
    message: `the directory cannot be a working directory: ${reason}`,
    suggestion: 'Name a directory that exists, outside the data directory and whatever else is refused.',
  });
}
