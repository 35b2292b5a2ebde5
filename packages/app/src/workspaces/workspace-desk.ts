import path from 'node:path';
import {
  type Digest,
  digest,
  type ErrorEnvelope,
  err,
  failure,
  ok,
  type Result,
  type RunId,
  thrownMessage,
} from '@signalbox/model';
import {
  type Blobs,
  eventType,
  type RunReader,
  type RunRecord,
  type RunWorkspace,
  type WriteSet,
} from '@signalbox/runs';
import { type HostFilesystem, restoreAll } from '@signalbox/state';
import type { AgentTools } from '../agents/agent-tools.ts';
import type { Machine } from '../machine.ts';
import { type SnapshotDiff, snapshotDiff } from './snapshot-diff.ts';
import { withTurnDiffs } from './turn-diff.ts';
import { type MadeWorkspace, type WorkspacePlaces, workspacePlaces } from './workspace-place.ts';
import { WORKSPACE_KEY, workspaceAt } from './workspace-ref.ts';

/**
 * The workspaces of the runs of a data directory. A ref is the digest of a snapshot: everything under the workspace except git's own files,
 * with contents in blobs.
 */
export interface WorkspaceDesk {
  make: WorkspacePlaces['make'];
  /** A workspace for a fork, with its parent's files of a frame. */
  fork(run: RunId, parent: RunRecord, frame: number): Promise<Result<MadeWorkspace | undefined, ErrorEnvelope>>;
  /** A frame's commit, with the ref of the files if they may have changed. */
  attach(writes: WriteSet, run: RunId): Promise<WriteSet>;
  snapshot(run: RunId): Promise<Result<Digest, ErrorEnvelope>>;
  /** All or nothing, even if the process dies on the way. */
  rollback(run: RunId, ref: string): Promise<Result<void, ErrorEnvelope>>;
  diff(run: RunId, from: string, to?: string): Promise<Result<SnapshotDiff, ErrorEnvelope>>;
  /** Puts the files of a snapshot into an existing directory; files that are not in the snapshot are removed. */
  materialize(ref: string, directory: string): Promise<Result<void, ErrorEnvelope>>;
  /** Removes the directory and its entry in the user's repository. */
  remove(record: RunRecord): Promise<void>;
  /** For a run that did not start. */
  discard: WorkspacePlaces['remove'];
  /** Call it before any run is driven. */
  recover(): Promise<void>;
}

export interface WorkspaceDeskOptions {
  readonly dataDirectory: string;
  readonly machine: Machine;
  readonly reader: RunReader;
  readonly blobs: Pick<Blobs, 'get' | 'put'>;
  readonly tools: Pick<AgentTools, 'files' | 'locks'>;
}

/** The cached facts of a driven run. */
interface Known {
  readonly workspace: RunWorkspace | undefined;
  files?: HostFilesystem;
  ref?: Digest | null;
}

export function openWorkspaceDesk({
  dataDirectory,
  machine,
  reader,
  blobs,
  tools,
}: WorkspaceDeskOptions): WorkspaceDesk {
  const places = workspacePlaces(dataDirectory);
  const runs = new Map<RunId, Known>();

  async function knownOf(run: RunId, writes?: WriteSet): Promise<Known> {
    const known = runs.get(run);
    if (known !== undefined) return known;
    const record = writes?.run?.kind === 'create' ? writes.run.run : await reader.run(run);
    const found: Known = { workspace: record?.workspace };
    runs.set(run, found);
    return found;
  }

  async function filesOf(run: RunId): Promise<Result<HostFilesystem, ErrorEnvelope>> {
    const known = await knownOf(run);
    if (known.workspace === undefined) return err(noWorkspace(run));
    if (known.files !== undefined) return ok(known.files);
    const files = tools.files(known.workspace.path);
    if (files.ok) known.files = files.value;
    return files;
  }

  async function snapshot(run: RunId): Promise<Result<Digest, ErrorEnvelope>> {
    const files = await filesOf(run);
    return files.ok ? kept(files.value) : files;
  }

  async function attached(writes: WriteSet, run: RunId): Promise<WriteSet> {
    const { frame } = writes;
    if (frame === undefined) return writes;
    const known = await knownOf(run, writes);
    if (known.workspace === undefined) return writes;
    const before = known.ref;
    if (before === undefined || mayHaveChanged(writes)) {
      // A frame whose files could not be stored says so, so that older ones are not taken for them.
      const kept = await snapshot(run);
      known.ref = kept.ok ? kept.value : null;
    }
    const { ref = null } = known;
    const told = ref === null ? writes : await withTurnDiffs({ reader, blobs }, writes, run, ref);
    if (ref === before) return told;
    const change = { kind: 'set', value: ref } as const;
    const interval = { space: 'workspace', key: WORKSPACE_KEY, fromFrame: frame.index, change } as const;
    return { ...told, intervals: [...(told.intervals ?? []), interval] };
  }

  async function restore(files: HostFilesystem, ref: string): Promise<Result<void, ErrorEnvelope>> {
    const named = digest.safeParse(ref);
    if (!named.success) return err(notARef(ref));
    const target = await files.decode({ root: named.data });
    if (!target.ok) return target;
    const lock = await tools.locks.acquire(files.lockPath, 'exclusive');
    if (!lock.ok) return lock;
    try {
      const present = await files.snapshot();
      if (!present.ok) return present;
      // A worktree's link to its repository is not part of its files.
      const entries = new Map(target.value.tree.entries);
      const own = present.value.tree.entries.get(GIT);
      if (own === undefined) entries.delete(GIT);
      else entries.set(GIT, own);
      const wanted = { tree: { ...target.value.tree, entries } };
      const id = `workspace:${machine.ids.mint<RunId>()}`;
      const restored = await restoreAll([() => files.stage(wanted, { id, left: 'present' })]);
      return restored.ok ? ok(undefined) : restored;
    } finally {
      lock.value();
    }
  }

  async function materialize(ref: string, directory: string): Promise<Result<void, ErrorEnvelope>> {
    const files = tools.files(directory);
    return files.ok ? restore(files.value, ref) : files;
  }

  return {
    make: places.make,
    discard: places.remove,
    snapshot,
    materialize,
    async fork(run, parent, frame) {
      const { workspace, workingDirectory } = parent;
      if (workspace === undefined) return ok(undefined);
      const made = await places.makeLike(run, { workspace, workingDirectory: workingDirectory ?? workspace.path });
      if (!made.ok) return made;
      const ref = await workspaceAt(reader, parent.id, frame);
      const restored =
        ref === undefined ? err(notKept(parent.id, frame)) : await materialize(ref, made.value.workspace.path);
      if (restored.ok) return made;
      await places.remove(run, made.value.workspace);
      return restored;
    },
    async attach(writes, run) {
      const told = await attached(writes, run);
      // The facts of a resting run are read again when it continues.
      const status = writes.run?.kind === 'change' ? writes.run.change.status : undefined;
      if (status !== undefined && status !== 'running') runs.delete(run);
      return told;
    },
    async rollback(run, ref) {
      const files = await filesOf(run);
      return files.ok ? restore(files.value, ref) : files;
    },
    async diff(run, from, to) {
      const now = to === undefined ? await snapshot(run) : ok(to);
      if (!now.ok) return now;
      const [a, b] = [digest.safeParse(from), digest.safeParse(now.value)];
      if (!a.success) return err(notARef(from));
      return b.success ? snapshotDiff(blobs, a.data, b.data) : err(notARef(now.value));
    },
    async remove({ id, workspace }) {
      runs.delete(id);
      if (workspace !== undefined && isOwnWorkspace(id, workspace)) await places.remove(id, workspace);
    },
    recover: () => places.recover(async run => (await reader.run(run)) !== undefined),
  };
}

/** Whether it was created for this run. An imported run names one that was created elsewhere. */
export function isOwnWorkspace(run: RunId, workspace: RunWorkspace): boolean {
  return path.basename(workspace.path) === run;
}

const GIT = '.git';

const FILE_EVENTS: ReadonlySet<string> = new Set(['file.written', 'task.retry', 'run.resumed']);

/** Files change through ended work, and through writes of plans. */
function mayHaveChanged({ tasks = [], events = [] }: WriteSet): boolean {
  return (
    tasks.some(({ status }) => status === 'done' || status === 'error' || status === 'canceled') ||
    events.some(event => FILE_EVENTS.has(eventType(event)))
  );
}

async function kept(files: HostFilesystem): Promise<Result<Digest, ErrorEnvelope>> {
  const picture = await files.snapshot();
  if (!picture.ok) return picture;
  try {
    const { root } = (await files.encode(picture.value)) as { readonly root: Digest };
    return ok(root);
  } catch (cause) {
    return err(
      failure('workspace/failed', {
        message: `The files under ${files.root} could not be kept: ${thrownMessage(cause)}`,
        suggestion: 'Check that the data directory has room.',
      }),
    );
  }
}

function noWorkspace(run: RunId): ErrorEnvelope<'workspace/none'> {
  return failure('workspace/none', {
    message: `Run ${run} has no workspace.`,
    suggestion: 'Set `workspace: true` in the plan, and start it again.',
    details: { run },
  });
}

function notKept(run: RunId, frame: number): ErrorEnvelope<'workspace/none'> {
  return failure('workspace/none', {
    message: `The files of run ${run} at frame ${frame} were not kept.`,
    suggestion: 'Choose another frame.',
    details: { run, frame },
  });
}

function notARef(ref: string): ErrorEnvelope<'workspace/none'> {
  return failure('workspace/none', {
    message: `There is no snapshot ${JSON.stringify(ref.slice(0, 100).toWellFormed())}.`,
    suggestion: 'Give a ref that `workspace.snapshot()` returned.',
  });
}
