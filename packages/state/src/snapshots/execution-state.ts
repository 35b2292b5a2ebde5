import {
  type Clock,
  err,
  type IdSource,
  ok,
  type Result,
  type Rng,
  type SessionId,
  timestampOf,
} from '@signalbox/model';
import type { CallChanges } from '../checkpoints/call-changes.ts';
import type { CheckpointStore } from '../checkpoints/checkpoint-store.ts';
import { type Filesystem, type FilesystemSnapshot, filesystem } from '../filesystem/filesystem.ts';
import type { Session } from '../session/session.ts';
import type { SnapshotOptions } from '../session/session-snapshot.ts';
import type { SliceHandle } from '../session/session-view.ts';
import { append } from '../session/slice.ts';
import { toolInvoked, toolInvokedEvent } from '../session/tool-invoked.ts';
import { type TranscriptEntry, transcript } from '../session/transcript.ts';
import type { CompositeSnapshot, SnapshotMetadata } from './composite-snapshot.ts';
import type { Resources } from './resources.ts';
import { type StateError, snapshotMismatch } from './snapshot-error.ts';
import type { StagedRestore } from './snapshotable.ts';
import { type RestoreReport, restoreAll } from './two-phase-restore.ts';

/** The single owner of everything that changes while a prompt is evaluated. */
export interface ExecutionState {
  readonly session: Session;
  readonly resources: Resources;
  /** The conversation; a log of the session. */
  readonly transcript: SliceHandle<TranscriptEntry>;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly rng: Rng | null;
  readonly checkpoints: CheckpointStore | null;
  /** Redacts secrets in records of calls. */
  clean(text: string): string;
  /** The beginning of a text, up to a number of characters, without a partial secret at its end. */
  cut(text: string, most: number): string;
  snapshot(options?: StateSnapshotOptions): Promise<Result<CompositeSnapshot, StateError>>;
  restore(snapshot: CompositeSnapshot, options?: StateRestoreOptions): Promise<Result<RestoreReport, StateError>>;
}

interface StateSnapshotOptions extends SnapshotOptions {
  readonly tag?: string;
  readonly metadata?: Partial<SnapshotMetadata>;
  /** All files that may have changed since the last snapshot, if known. */
  readonly paths?: readonly string[];
  /** Aborts the capture, which fails. */
  readonly signal?: AbortSignal | undefined;
  /** Takes resources from this snapshot instead of capturing them. */
  readonly resourcesFrom?: CompositeSnapshot;
  /** Known files, instead of a capture. */
  readonly files?: FilesystemSnapshot;
}

interface StateRestoreOptions {
  readonly preserveLogs?: boolean;
  /** The state left by the last call; defaults to the last known state. */
  readonly left?: CompositeSnapshot;
  /** File changes of later calls, if the snapshot contains only those paths: they are undone. */
  readonly undo?: CallChanges;
}

export interface ExecutionStateOptions {
  readonly session: Session;
  readonly resources: Resources;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly rng?: Rng;
  readonly checkpoints?: CheckpointStore;
  readonly clean?: (text: string) => string;
  readonly cut?: (text: string, most: number) => string;
}

export function createExecutionState(options: ExecutionStateOptions): ExecutionState {
  const { session, resources, clock, ids } = options;
  session.slice(toolInvoked).register(toolInvokedEvent, (_, event) => append(event));
  return {
    session,
    resources,
    clock,
    ids,
    transcript: session.slice(transcript),
    rng: options.rng ?? null,
    checkpoints: options.checkpoints ?? null,
    clean: options.clean ?? (text => text),
    cut: options.cut ?? ((text, most) => text.slice(0, most).toWellFormed()),
    async snapshot(how = {}) {
      const captured = new Map<string, unknown>(how.resourcesFrom?.resources);
      if (how.files !== undefined && resources.get(filesystem) !== undefined) captured.set(filesystem.name, how.files);
      for (const [name, part] of how.resourcesFrom === undefined ? resources.snapshotable() : []) {
        if (captured.has(name)) continue;
        const own = await part.snapshot({ signal: how.signal, ...(how.paths && { paths: how.paths }) });
        if (!own.ok) return own;
        captured.set(name, own.value);
      }
      return ok({
        snapshotId: ids.mint<SessionId>(),
        createdAt: timestampOf(clock),
        session: session.snapshot(how),
        resources: captured,
        metadata: { tag: how.tag ?? null, toolCallId: null, toolName: null, phase: 'manual', ...how.metadata },
      });
    },
    async restore(snapshot, how = {}) {
      const mismatch = structureMismatch(resources, snapshot);
      if (mismatch !== undefined) return err(snapshotMismatch(mismatch));
      const id = `restore:${ids.mint<SessionId>()}`;
      const parts = [...resources.snapshotable()].map(([name, part]) => () => {
        const left = how.left?.resources.get(name);
        const files = resources.get(filesystem);
        if (how.undo !== undefined && name === filesystem.name && files !== undefined)
          return stagedUndo(files, how.undo, id);
        return part.stage(snapshot.resources.get(name), {
          id,
          left: left === undefined ? 'known' : { snapshot: left },
        });
      });
      return restoreAll([...parts, async () => stagedSession(session, snapshot, how.preserveLogs ?? true)]);
    },
  };
}

/** Undoes calls as part of a restore: checked first, and reverted by reapplying them. */
async function stagedUndo(
  files: Filesystem,
  changes: CallChanges,
  id: string,
): Promise<Result<StagedRestore, StateError>> {
  if (files.undo === undefined) return err(snapshotMismatch('its files cannot be undone path by path'));
  const undo = files.undo;
  const looked = await undo(changes, { id, dryRun: true });
  if (!looked.ok) return looked;
  const back = new Map(
    [...changes].map(([path, { before, after }]) => [
      path,
      { ...(after && { before: after }), ...(before && { after: before }) },
    ]),
  );
  return ok({
    lost: looked.value.lost,
    apply: async () => voided(await undo(changes, { id })),
    undo: async () => voided(await undo(back, { id })),
    async finish() {},
    async discard() {},
  });
}

function voided<E>(result: Result<unknown, E>): Result<void, E> {
  return result.ok ? ok(undefined) : result;
}

/** How the resources of a state differ from those of a snapshot; undefined if they match. */
export function structureMismatch(resources: Resources, snapshot: CompositeSnapshot): string | undefined {
  for (const name of snapshot.resources.keys()) {
    if (!resources.snapshotable().has(name)) return `there is no resource ${name} any more`;
  }
  for (const name of resources.snapshotable().keys()) {
    if (!snapshot.resources.has(name)) return `the snapshot has no resource ${name}`;
  }
  return undefined;
}

function stagedSession(
  session: Session,
  snapshot: CompositeSnapshot,
  preserveLogs: boolean,
): Result<StagedRestore, StateError> {
  const staged = session.stage(snapshot.session, { preserveLogs });
  if (!staged.ok) return staged;
  return ok({
    lost: [],
    apply: async () => ok(staged.value.apply()),
    undo: async () => ok(staged.value.undo()),
    async finish() {},
    async discard() {},
  });
}
