import * as fs from 'node:fs';
import { type Clock, type Digest, defined, err, type Json, ok, type Result } from '@signalbox/model';
import { changesBetween } from '../checkpoints/call-changes.ts';
import { CHECKPOINTS_KEPT } from '../checkpoints/checkpoint-store.ts';
import type { ContentStore } from '../filesystem/content-store.ts';
import type { HostFiles } from '../filesystem/host-files.ts';
import type { KeptBook } from '../filesystem/kept-book.ts';
import { isWithin } from '../filesystem/path-locks.ts';
import { reasonOf } from '../filesystem/system-reason.ts';
import type { DirectoryNode } from '../filesystem/tree.ts';
import type { UndoLog } from '../filesystem/undo-log.ts';
import { type GitProgram, newGitPrograms } from '../git/git-programs.ts';
import { watchedPlaces } from '../git/git-watch.ts';
import { conflict, restoreFailed, type StateError, snapshotFailed } from '../snapshots/snapshot-error.ts';
import type { KeptFiles } from '../snapshots/snapshotable.ts';
import { type AppliedChanges, type ApplyResult, applyChanges, isPlace, rootMoved } from './apply-changes.ts';
import { type ChangeImages, keepImages } from './change-images.ts';
import { type FileInUse, inUseConflict, inUseError } from './files-in-use.ts';
import { instantNear } from './filesystem-instant.ts';
import {
  chosenNow,
  type HeldChanges,
  type HeldChoice,
  heldIn,
  holdChanges,
  isShownInUse,
  notAppliedNow,
  shownAgain,
  shownMoved,
  shownNow,
} from './held-changes.ts';
import { type InnerBook, openInnerCalls, readStretches } from './inner-calls.ts';
import { type CallOfLayer, type Layer, type Layers, type NoLayerError, noLayer } from './layer.ts';
import type { ChangeSet, LayerChange, LayerConflict } from './layer-change.ts';
import { readChanges } from './read-changes.ts';
import { appliedStretches, type Stretch } from './stretch.ts';
import { unmappedFile } from './unmapped-files.ts';

/** A call whose changes are applied. */
interface LayerCall {
  readonly id: string;
  readonly tool: string;
  readonly startedAt: number;
  /** The log that will record its success; null if there is none. */
  readonly checkpoints: string | null;
  /** Its task. */
  readonly evaluation?: string;
  /** Its result. */
  readonly value?: Json;
  /** Whether a person must decide about its changes: in any case, or if they cannot be applied. Otherwise those are dropped. */
  readonly hold?: true | 'if-not-applied';
  /** The calls that its program made. */
  readonly inner?: InnerBook;
}

export interface LayerApplied {
  readonly kind: 'applied';
  readonly images: ChangeImages;
  readonly applied: AppliedChanges;
  /** Files that were replaced although programs have them open, because a person chose that. */
  readonly inUse: readonly FileInUse[];
  /** The same changes in order, if some of them belong to inner calls. */
  readonly stretches?: readonly Stretch[] | undefined;
}

type LayerResult = LayerApplied | { readonly kind: 'held'; readonly held: HeldChanges } | LayerFailed;

/** Nothing was applied, except at paths that somebody changed meanwhile: their previous versions are kept. */
export interface LayerFailed {
  readonly kind: 'failed';
  readonly error: StateError;
  readonly kept?: KeptFiles;
}

interface HeldSettling extends Pick<LayerCall, 'startedAt' | 'checkpoints'> {
  /** Who chose. Without a person, changes that git would run are not applied. */
  readonly by?: 'person' | 'plan';
}

/** Calls on layers of one directory. The root is locked while changes are applied, not while commands run. */
export interface Layering {
  open(call?: CallOfLayer): Promise<Result<Layer, NoLayerError>>;
  /** A copy of the directory that stands in for a layer. */
  openCopy(why: string, call?: CallOfLayer): Promise<Result<Layer, NoLayerError>>;
  /** Stops trying layers of this directory. */
  refuse(reason: string): void;
  /** Whether a command may have failed only because of its layer: then no more layers are tried. Checked once. */
  mayBeToBlame(layer: Layer): Promise<boolean>;
  /** Tells apart what the calls of a program on the layer change. */
  inner(layer: Layer, how: { readonly clock: Clock; clean(text: string): string }): InnerBook;
  /** Applies a layer's changes, or holds them if somebody else changed the same paths or the call asks for it. */
  settle(layer: Layer, call: LayerCall): Promise<LayerResult>;
  held(callId: string): HeldChanges | undefined;
  /**
   * Held changes of a call compared with the current root, if that has changed since they were shown. With `keep`, they take the place of
   * what was shown.
   */
  heldNow(callId: string): Promise<{ readonly held: HeldChanges; keep(): Promise<void> } | undefined>;
  /** A layer that shows the directory with the held changes of a call. Nothing that is written on it is kept. */
  openHeld(callId: string): Promise<Result<Layer, NoLayerError>>;
  /** Carries out a person's choice about held changes. Refused if the root has changed since it was shown. */
  settleHeld(
    callId: string,
    choice: HeldChoice,
    call: HeldSettling,
  ): Promise<Result<LayerApplied | { readonly kind: 'dropped' }, StateError>>;
}

export interface LayeringOptions {
  readonly root: string;
  readonly layers: Layers;
  readonly files: HostFiles;
  readonly store: ContentStore;
  readonly undoLog: UndoLog;
  /** Names of directories that tools can regenerate. */
  readonly refillable: ReadonlySet<string>;
  /** Stores a tree; durable once the store is synced. */
  keep(tree: DirectoryNode): Promise<Digest>;
  /** Why the root's path no longer leads to the root; undefined if it still does. */
  checkRoot(): StateError | undefined;
  /** Called with the previous versions of paths that could not be reverted. */
  readonly keptBook?: KeptBook;
  /** Called with every changed path. */
  touched(paths: readonly string[]): void;
}

export function createLayering(options: LayeringOptions): Layering {
  const { root, layers, files, store, undoLog } = options;
  const keyOf = (callId: string) => `${root}\n${callId}`;
  const heldOf = (callId: string) => heldIn(layers.home).find(({ call }) => call.key === keyOf(callId));
  let unmapped: Promise<string | undefined> | undefined;
  layers.prepare(root);

  async function apply(
    layer: Pick<Layer, 'id' | 'root' | 'directory' | 'place'>,
    changes: readonly LayerChange[],
    call: Omit<LayerCall, 'inner'>,
    made: {
      readonly stretches: readonly Stretch[];
      readonly disputed: readonly string[];
      readonly isReplacedAnyway?: (file: FileInUse) => boolean;
    },
  ): Promise<LayerApplied | LayerFailed | Extract<ApplyResult, { kind: 'changed' }>> {
    const place = { root, upper: `${layer.directory}/upper` };
    let images: ChangeImages;
    let before: Digest;
    let lookedAt: bigint;
    try {
      lookedAt = await instantNear(root, layer.directory);
      images = await keepImages(place, changes, { store, refillable: options.refillable });
      before = await options.keep(images.before);
      await options.keep(images.after);
    } catch (cause) {
      return { kind: 'failed', error: snapshotFailed(reasonOf(cause)) };
    }
    const { id, tool, startedAt, checkpoints, evaluation } = call;
    const charged = evaluation === undefined ? {} : { evaluation };
    const applied = await applyChanges({
      ...{ layer, changes, call: { id, key: keyOf(id), tool, startedAt, ...charged } },
      onLeft: async paths =>
        options.keptBook?.add({ call: id, tool, evaluation, root, before, kept: { digest: before, paths } }),
      ...{ lookedAt, before: { tree: before, store }, checkpoints, files, undoLog },
      ...defined({ isReplacedAnyway: made.isReplacedAnyway }),
    });
    options.touched(changes.map(({ path }) => path));
    if (applied.kind === 'applied') {
      const all = changesBetween(images.before, images.after);
      const stretches = appliedStretches(made.stretches, all, { disputed: made.disputed, kept: CHECKPOINTS_KEPT });
      return { ...applied, images, ...(stretches && { stretches }) };
    }
    if (applied.kind === 'changed' || applied.left.length === 0) return applied;
    return { ...applied, kept: { digest: before, paths: applied.left } };
  }

  return {
    async open(call) {
      const replaced = options.checkRoot();
      return replaced === undefined ? layers.open(root, call) : err(noLayer(root, replaced.message));
    },
    async openCopy(why, call) {
      const replaced = options.checkRoot();
      return replaced === undefined ? layers.openCopy(root, why, call) : err(noLayer(root, replaced.message));
    },
    refuse: reason => layers.refuse(root, reason),
    async mayBeToBlame(layer) {
      if (!layer.entry.isMapped) return false;
      unmapped ??= unmappedFile(root);
      const path = await unmapped;
      if (path !== undefined) layers.refuse(root, `${path} belongs to another user or group`);
      return path !== undefined;
    },
    inner: (layer, how) =>
      openInnerCalls({ layer, store, files, refillable: options.refillable, keep: options.keep, ...how }),
    async settle(layer, { inner, ...call }) {
      const view = layer.view();
      if (view === undefined) return { kind: 'failed', error: snapshotFailed('the layer was never entered') };
      // Checked before and after: reading another directory says nothing about the root.
      const replaced = () => (isPlace(root, layer.place) ? undefined : (options.checkRoot() ?? rootMoved(root)));
      let set: ChangeSet & { readonly programs: readonly GitProgram[] };
      try {
        const moved = replaced();
        if (moved !== undefined) return { kind: 'failed', error: moved };
        const read = layer.copied?.read() ?? readChanges(layer, view);
        set = { ...read, programs: await programsOf(view, read.changes) };
      } catch (cause) {
        return { kind: 'failed', error: snapshotFailed(reasonOf(cause)) };
      }
      layer.leave();
      const hold = async (conflicted: typeof set & { readonly failed?: string }): Promise<LayerResult> => {
        const { id, tool, evaluation, value } = call;
        const told = defined({ evaluation, value });
        const own = { id, key: keyOf(id), tool, ...told };
        await inner?.sync();
        const held = await holdChanges(layer, own, conflicted, { files, store });
        layer.copied?.keepOnly(held.changes);
        return { kind: 'held', held };
      };
      try {
        const moved = replaced();
        if (moved !== undefined) return { kind: 'failed', error: moved };
        const isHeld = set.conflicts.length > 0 || set.programs.length > 0;
        if (isHeld || (call.hold === true && set.changes.length > 0)) return await hold(set);
        const stretches = (await inner?.stretches()) ?? [];
        const done = await apply(layer, set.changes, call, { stretches, disputed: [] });
        if (done.kind === 'failed' && done.kept === undefined && call.hold === 'if-not-applied') {
          return await hold({ ...set, failed: done.error.message }).catch(() => done);
        }
        if (done.kind !== 'changed') return done;
        // Somebody was faster than a step: nothing is applied, and the set is unchanged.
        return await hold({ ...set, conflicts: conflictsAt(set.changes, done) });
      } catch (cause) {
        return { kind: 'failed', error: snapshotFailed(reasonOf(cause)) };
      }
    },
    held: heldOf,
    async heldNow(callId) {
      const held = heldOf(callId);
      // A root that is gone or another one is told by the answer.
      if (held === undefined || !isPlace(root, held.place)) return undefined;
      return shownNow(held, `${fs.realpathSync(layers.home)}/${held.layer}`, { files, store });
    },
    async openHeld(callId) {
      const held = heldOf(callId);
      if (held === undefined) return err(noLayer(root, `call ${callId} has no changes that are held`));
      if (!isPlace(root, held.place)) return err(noLayer(root, rootMoved(root).message));
      return layers.openOver(root, held.layer);
    },
    settleHeld: async (...asked) => {
      try {
        return await settleHeld(...asked);
      } catch (cause) {
        return err(snapshotFailed(reasonOf(cause)));
      }
    },
  };

  async function programsOf(view: string, changes: readonly LayerChange[]): Promise<readonly GitProgram[]> {
    const paths = changes.map(({ path }) => path);
    return newGitPrograms({ at: root, root }, { at: view, root }, paths, await watchedPlaces(root));
  }

  async function settleHeld(
    callId: string,
    choice: HeldChoice,
    { by, ...facts }: HeldSettling,
  ): Promise<Result<LayerApplied | { readonly kind: 'dropped' }, StateError>> {
    const held = heldOf(callId);
    if (held === undefined) return err(snapshotFailed(`call ${callId} has no changes that are held`));
    const directory = `${fs.realpathSync(layers.home)}/${held.layer}`;
    if (choice === 'drop') {
      layers.remove(held.layer);
      return ok({ kind: 'dropped' });
    }
    if (by !== 'person' && held.programs !== undefined) return err(programsUnseen(callId));
    const again = async () => {
      const shown = isPlace(root, held.place)
        ? await shownAgain(held, choice, directory, { files, store })
        : await shownMoved(held, directory, { files, store });
      return shown && err(conflict(shown.conflicts.map(({ path }) => path)));
    };
    const moved = await again();
    if (moved !== undefined) return moved;
    const layer = { id: held.layer, root, directory, place: held.place };
    const { tool, evaluation } = held.call;
    const own = { id: callId, tool, ...defined({ evaluation }) };
    const made = {
      stretches: await readStretches(directory, store),
      disputed: held.conflicts.flatMap(({ path, of }) => [path, of]),
      isReplacedAnyway: (file: FileInUse) => isShownInUse(held, file),
    };
    let done = await apply(layer, chosenNow(held, choice), { ...own, ...facts }, made);
    // Somebody may write to a file just now that a person chose to replace all the same.
    for (let times = 1; done.kind === 'changed' && times < ATTEMPTS; times++) {
      const changed = await again();
      if (changed !== undefined) return changed;
      done = await apply(layer, chosenNow(held, choice), { ...own, ...facts }, made);
    }
    if (done.kind === 'failed') {
      if (done.kept !== undefined) return err(done.error);
      await notAppliedNow(held, done.error.message, directory, { files, store });
      return err(conflict([]));
    }
    if (done.kind === 'changed') {
      if (done.inUse.length > 0) return (await again()) ?? err(inUseError(done.inUse));
      return (await again()) ?? err(restoreFailed('someone changed what was being applied', { state: 'unchanged' }));
    }
    const finish = async () => {
      await done.applied.finish();
      layers.remove(held.layer);
    };
    return ok({ ...done, applied: { ...done.applied, finish } });
  }
}

const ATTEMPTS = 3;

function programsUnseen(callId: string): StateError {
  return snapshotFailed(`git would run some of the changes of call ${callId}, and no person has seen them`);
}

/** Paths that changed after they were checked, or are in use, each with its change. */
function conflictsAt(
  changes: readonly LayerChange[],
  { paths, inUse }: Extract<ApplyResult, { kind: 'changed' }>,
): readonly LayerConflict[] {
  const ofPath = (path: string) => changes.find(change => isWithin(path, change.path))?.path ?? path;
  return [
    ...paths.map(path => ({ path, of: ofPath(path), theirs: 'changed' as const })),
    ...inUse.map(file => inUseConflict(file, ofPath(file.path))),
  ];
}
