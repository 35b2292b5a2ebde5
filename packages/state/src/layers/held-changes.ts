import * as fs from 'node:fs';
import { type Digest, defined, digest, json } from '@signalbox/model';
import * as z from 'zod';
import { type ClosedPaths, lookIntoClosed } from '../filesystem/closed-paths.ts';
import type { ContentStore } from '../filesystem/content-store.ts';
import type { HostFiles } from '../filesystem/host-files.ts';
import { isWithin } from '../filesystem/path-locks.ts';
import type { GitProgram } from '../git/git-programs.ts';
import { newerInside, syncMany } from './apply-changes.ts';
import { databaseOf, type FileInUse, filesInUse, inUseConflict } from './files-in-use.ts';
import { instantNear } from './filesystem-instant.ts';
import type { Layer } from './layer.ts';
import {
  type ChangeSet,
  type Identity,
  identityOf,
  isSame,
  kindOf,
  type LayerChange,
  type LayerConflict,
  layerChange,
  layerConflict,
} from './layer-change.ts';
import { atMounts, mountsInside } from './mount-table.ts';

/** A version of a path: null if nothing exists; without a digest it is not a file. */
const version = z
  .strictObject({ digest: digest.optional(), size: z.int().optional(), mode: z.int().optional() })
  .nullable();

/** Changes that were not applied because somebody else changed the same paths: they wait for a person. */
const heldChangesV1 = z.strictObject({
  version: z.literal(1),
  layer: z.string(),
  call: z.strictObject({
    id: z.string(),
    key: z.string(),
    tool: z.string(),
    /** Its task. */
    evaluation: z.string().optional(),
    /** Its result. */
    value: json.optional(),
  }),
  /** How often it was shown again because the root had changed. */
  round: z.int().nonnegative(),
  /** When it was shown, on the clock of the root's filesystem, in nanoseconds. */
  shownAt: z.string(),
  root: z.string(),
  place: z.strictObject({ dev: z.string(), ino: z.string() }),
  changes: z.array(layerChange),
  /** What git would run because of them: a person must have seen it before they are applied. */
  programs: z.array(z.strictObject({ path: z.string(), says: z.string() })).optional(),
  /** Why they could not be applied, such as a full disk. */
  failed: z.string().optional(),
  conflicts: z.array(
    layerConflict.extend({
      /** The root's current version and the layer's, with contents in the store. */
      yours: version,
      layers: version,
    }),
  ),
});
export type HeldChanges = Readonly<z.infer<typeof heldChangesV1>>;

/**
 * A person's options: apply what nobody else touched; apply everything, and keep the replaced versions with the call; or drop
 * all changes.
 */
export const heldChoice = z.enum(['apply-rest', 'apply-all', 'drop']);
export type HeldChoice = z.infer<typeof heldChoice>;

/** The file that marks a layer as held. */
export const HELD = 'held.json';

/** Keeps a layer beyond its process. Its content is durable when this returns. */
export async function holdChanges(
  layer: Pick<Layer, 'id' | 'root' | 'place' | 'directory'>,
  call: HeldChanges['call'],
  set: ChangeSet & { readonly programs?: readonly GitProgram[]; readonly failed?: string },
  ports: HoldPorts,
): Promise<HeldChanges> {
  const contents = set.changes.flatMap(change =>
    change.op === 'put' && change.now.kind === 'file' ? [`${layer.directory}/upper/${change.path}`] : [],
  );
  await syncMany(ports.files, contents, layer.directory);
  const { id, root, place } = layer;
  const first = { round: 0, shownAt: String(await instantNear(root, layer.directory)) };
  const programs = set.programs === undefined || set.programs.length === 0 ? {} : { programs: [...set.programs] };
  const facts = {
    version: 1 as const,
    layer: id,
    call,
    ...first,
    root,
    place,
    changes: [...set.changes],
    ...programs,
    ...defined({ failed: set.failed }),
  };
  return shown({ ...facts, conflicts: [] }, set.conflicts, layer.directory, ports);
}

/**
 * Held changes compared with the current root, for a person to decide again; undefined if nothing new conflicts with their
 * choice. A database that a program has open always conflicts, whether it was shown or not; so does another file that one has open for
 * writing, unless that program was shown.
 */
export async function shownAgain(
  held: HeldChanges,
  choice: Exclude<HeldChoice, 'drop'>,
  directory: string,
  ports: HoldPorts,
): Promise<HeldChanges | undefined> {
  const shownAt = String(await instantNear(held.root, directory));
  const present = presentChanges(held, chosenChanges(held, choice));
  if (present.conflicts.length === 0) return undefined;
  const known = held.conflicts.filter(
    one => !isRootMoved(one) && !present.conflicts.some(({ path }) => path === one.path),
  );
  const next = { ...held, round: held.round + 1, shownAt, changes: [...present.changes] };
  return shown(next, [...known, ...present.conflicts], directory, ports);
}

/**
 * Held changes about which nobody has decided yet, compared with the current root; undefined if nothing new conflicts. They take the place of
 * what was shown only with `keep`, once they are what is shown.
 */
export async function shownNow(
  held: HeldChanges,
  directory: string,
  ports: HoldPorts,
): Promise<{ readonly held: HeldChanges; keep(): Promise<void> } | undefined> {
  const shownAt = String(await instantNear(held.root, directory));
  const present = presentChanges(held, held.changes);
  const known = held.conflicts.filter(one => !present.conflicts.some(({ path }) => path === one.path));
  if (present.conflicts.length === 0) return undefined;
  const next = { ...held, shownAt, changes: [...present.changes] };
  const told = await withVersions(next, [...known, ...present.conflicts], directory, ports);
  return { held: told, keep: async () => void (await written(told, directory, ports)) };
}

/** Held changes that could not be applied now. */
export function notAppliedNow(
  held: HeldChanges,
  failed: string,
  directory: string,
  ports: HoldPorts,
): Promise<HeldChanges> {
  return written({ ...held, round: held.round + 1, failed }, directory, ports);
}

/** Whether the conflict is that the root itself is missing or another directory. Then nothing can be applied. */
export function isRootMoved({ path, theirs }: Pick<LayerConflict, 'path' | 'theirs'>): boolean {
  return path === '' && theirs === 'moved';
}

/** Held changes whose root is missing or another directory now: there is nothing to show. */
export async function shownMoved(held: HeldChanges, directory: string, ports: HoldPorts): Promise<HeldChanges> {
  const known = held.conflicts.filter(one => !isRootMoved(one));
  const moved = { ...{ path: '', of: '', theirs: 'moved' as const }, yours: null, layers: null };
  return written({ ...held, round: held.round + 1, conflicts: [moved, ...known] }, directory, ports);
}

/** The same changes compared with the current root, and the differences from what was shown. */
function presentChanges(held: HeldChanges, chosen: readonly LayerChange[]): ChangeSet {
  const below = lookIntoClosed(held.root);
  try {
    return changesAgainst(below, held, chosen);
  } finally {
    below.close();
  }
}

function changesAgainst(below: ClosedPaths, held: HeldChanges, chosen: readonly LayerChange[]): ChangeSet {
  const conflicts: LayerConflict[] = [];
  const removed = held.changes.filter(({ op }) => op === 'remove');
  const changes = held.changes.flatMap((change): readonly LayerChange[] => {
    const { path } = change;
    // An entry that another change of the set removes first does not conflict.
    if (isNew(change) && removed.some(one => isWithin(path, one.path))) return [change];
    const there = below.stat(path);
    const now = there && identityOf(there);
    const was = change.op === 'make' ? null : change.was;
    const isAsShown = now === undefined || was === null ? now === undefined && was === null : isSame(now, was);
    const isWritten = isOpenIn(held, path) && now !== undefined && was !== null && now.ino === was.ino;
    if (!isAsShown && !isWritten)
      conflicts.push({ path, of: path, theirs: now === undefined ? 'deleted' : was === null ? 'created' : 'changed' });
    if (change.op === 'remove' && now?.kind === 'directory') {
      for (const newer of newerInside(below.fullOf(path), path, BigInt(held.shownAt)))
        if (!isOpenIn(held, newer)) conflicts.push({ path: newer, of: path, theirs: 'created' });
    }
    return againstPresent(change, now);
  });
  const mounts = mountsInside(held.root).map(mount => mount.slice(held.root.length + 1));
  for (const { path } of atMounts(chosen, mounts)) conflicts.push({ path, of: path, theirs: 'mounted' });
  const replaced = chosen.flatMap(change => (isNew(change) || change.op === 'attributes' ? [] : [change.path]));
  for (const file of filesInUse(held.root, replaced)) {
    const { path } = file;
    if (isShownInUse(held, file)) continue;
    const of = chosen.find(change => isWithin(path, change.path) || databaseOf(change.path) === path)?.path ?? path;
    conflicts.push(inUseConflict(file, of));
  }
  const order = ['remove', 'make', 'put', 'attributes'];
  return { changes: changes.toSorted((a, b) => order.indexOf(a.op) - order.indexOf(b.op)), conflicts };
}

/** Whether a person was shown that these programs, and no others, have the file open. A database is never replaced under a program. */
export function isShownInUse({ conflicts }: Pick<HeldChanges, 'conflicts'>, { path, kind, by }: FileInUse): boolean {
  const shown = conflicts.filter(one => one.path === path && one.theirs === 'open').flatMap(one => one.by ?? []);
  return kind === 'file' && by.every(({ pid }) => shown.some(one => one.pid === pid));
}

/** Whether a person was shown that a program has this file open: it was to be expected that it is written to. */
function isOpenIn({ conflicts }: Pick<HeldChanges, 'conflicts'>, path: string): boolean {
  return conflicts.some(one => one.path === path && one.theirs === 'open');
}

/** The changes that a choice applies, with what they replace as it is now where a program was shown to write to it. */
export function chosenNow(held: HeldChanges, choice: Exclude<HeldChoice, 'drop'>): readonly LayerChange[] {
  const below = lookIntoClosed(held.root);
  try {
    return chosenChanges(held, choice).map(change => {
      const there = isOpenIn(held, change.path) ? below.stat(change.path) : undefined;
      return there === undefined || isNew(change) ? change : { ...change, was: identityOf(there) };
    });
  } finally {
    below.close();
  }
}

/** Whether a change creates a new entry. */
function isNew(change: LayerChange): boolean {
  return change.op === 'make' || (change.op === 'put' && change.was === null);
}

/** A change compared with what is at its path now. */
function againstPresent(change: LayerChange, now: Identity | undefined): readonly LayerChange[] {
  const { path } = change;
  if (change.op === 'remove' || change.op === 'attributes') return now === undefined ? [] : [{ ...change, was: now }];
  if (change.op === 'make') {
    if (now?.kind === 'directory') return [];
    return now === undefined ? [change] : [{ op: 'remove', path, was: now }, change];
  }
  if (now?.kind !== 'directory') return [{ ...change, was: now ?? null }];
  return [
    { op: 'remove', path, was: now },
    { ...change, was: null },
  ];
}

export interface HoldPorts {
  readonly files: HostFiles;
  readonly store: ContentStore;
}

async function shown(
  held: HeldChanges,
  conflicts: ChangeSet['conflicts'],
  directory: string,
  ports: HoldPorts,
): Promise<HeldChanges> {
  return written(await withVersions(held, conflicts, directory, ports), directory, ports);
}

async function withVersions(
  held: HeldChanges,
  conflicts: ChangeSet['conflicts'],
  directory: string,
  { store }: HoldPorts,
): Promise<HeldChanges> {
  return {
    ...held,
    conflicts: await Promise.all(
      conflicts.map(async ({ path, of, theirs: what, by }) => ({
        ...{ path, of, theirs: what, ...(by && { by }) },
        yours: await versionOf(store, held.root, path),
        layers: await versionOf(store, `${directory}/upper`, path),
      })),
    ),
  };
}

async function written(told: HeldChanges, directory: string, { files, store }: HoldPorts): Promise<HeldChanges> {
  await store.sync();
  const file = `${directory}/${HELD}`;
  fs.rmSync(`${file}.new`, { force: true });
  const writer = files.create(`${file}.new`, 0o600);
  try {
    writer.write(Buffer.from(JSON.stringify(told)));
  } finally {
    writer.close();
  }
  await files.sync(`${file}.new`);
  files.rename(`${file}.new`, file);
  await files.sync(directory);
  return told;
}

/** The held changes in a directory of layers. An unreadable one was never finished. */
export function heldIn(home: string): readonly HeldChanges[] {
  const names = fs.existsSync(home) ? fs.readdirSync(home) : [];
  return names.flatMap(name => {
    try {
      const parsed = heldChangesV1.safeParse(JSON.parse(fs.readFileSync(`${home}/${name}/${HELD}`, 'utf8')));
      return parsed.success ? [parsed.data] : [];
    } catch {
      return [];
    }
  });
}

/** The part of held changes that a choice applies. */
function chosenChanges(held: HeldChanges, choice: Exclude<HeldChoice, 'drop'>): readonly LayerChange[] {
  if (choice === 'apply-all') return held.changes;
  const isOfMode = (at: string) =>
    held.changes.some(({ op, path }) => path === at && op === 'attributes') &&
    !held.changes.some(({ op, path }) => path === at && op !== 'attributes');
  const isFree = (change: LayerChange) =>
    !held.conflicts.some(({ path, of, theirs }) => {
      if (change.op === 'attributes') return path === change.path;
      // Two modes for one directory do not affect its content.
      if (theirs === 'changed' && path === of && isOfMode(path)) return false;
      return isWithin(change.path, path) || isWithin(path, change.path) || isWithin(change.path, of);
    });
  return held.changes.filter(isFree);
}

async function versionOf(
  store: ContentStore,
  top: string,
  path: string,
): Promise<{ readonly digest?: Digest; readonly size?: number; readonly mode?: number } | null> {
  const below = lookIntoClosed(top);
  try {
    const there = below.stat(path);
    const kind = there && kindOf(there);
    // The overlay represents a deletion as a device.
    if (there === undefined || kind === 'other') return null;
    if (kind !== 'file') return {};
    const digest = await store.putStream(fs.createReadStream('', { fd: below.openFile(path) }));
    return { digest, size: Number(there.size), mode: Number(there.mode) & 0o7777 };
  } finally {
    below.close();
  }
}
