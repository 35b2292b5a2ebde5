import type * as fs from 'node:fs';
import * as z from 'zod';

/** What tells that something on disk is still what was looked at: its inode, and that nobody wrote to it since. */
export const identity = z.strictObject({
  kind: z.enum(['file', 'link', 'directory', 'pipe', 'other']),
  ino: z.string(),
  mtime: z.string(),
  size: z.string(),
  mode: z.int(),
  uid: z.int(),
  gid: z.int(),
});
export type Identity = Readonly<z.infer<typeof identity>>;

/** One thing that a layer changes about its root. Paths are relative to both. */
export const layerChange = z.discriminatedUnion('op', [
  /** What is at the path goes away, with everything below it. */
  z.strictObject({ op: z.literal('remove'), path: z.string(), was: identity }),
  /** A directory that is not there yet. */
  z.strictObject({ op: z.literal('make'), path: z.string(), now: identity }),
  /** A file, link or pipe of the layer takes its place in the root; `was` is what it replaces there. */
  z.strictObject({ op: z.literal('put'), path: z.string(), now: identity, was: identity.nullable() }),
  /** A directory gets another mode or owner. */
  z.strictObject({ op: z.literal('attributes'), path: z.string(), now: identity, was: identity }),
]);
export type LayerChange = Readonly<z.infer<typeof layerChange>>;

/** A path that both the layer and somebody else changed. */
export const layerConflict = z.strictObject({
  path: z.string(),
  /** The change that it is in the way of. */
  of: z.string(),
  /** What somebody else did; `in-use`: a program has the database open; `unreadable`: nobody can tell. */
  theirs: z.enum(['changed', 'deleted', 'created', 'moved', 'in-use', 'unreadable']),
});
export type LayerConflict = Readonly<z.infer<typeof layerConflict>>;

/** Everything that a layer changes, in an order in which it can be done. */
export interface ChangeSet {
  /** Also those that conflict, as if nobody else mattered. */
  readonly changes: readonly LayerChange[];
  /** If there is one, nothing of the set may be applied before a person decided. */
  readonly conflicts: readonly LayerConflict[];
}

export function identityOf(stat: fs.BigIntStats): Identity {
  const { ino, mtimeNs, size, mode, uid, gid } = stat;
  return {
    kind: kindOf(stat),
    ino: String(ino),
    mtime: String(mtimeNs),
    size: String(size),
    mode: Number(mode) & 0o7777,
    uid: Number(uid),
    gid: Number(gid),
  };
}

export function kindOf(stat: fs.BigIntStats): Identity['kind'] {
  if (stat.isFile()) return 'file';
  if (stat.isSymbolicLink()) return 'link';
  if (stat.isDirectory()) return 'directory';
  return stat.isFIFO() ? 'pipe' : 'other';
}

/** Whether what is there is still what was looked at. A directory stays the same whatever is done to it. */
export function isSame(a: Identity, b: Identity): boolean {
  if (a.kind !== b.kind || a.ino !== b.ino) return false;
  return a.kind === 'directory' || (a.mtime === b.mtime && a.size === b.size && sameAttributesOf(a, b));
}

export function sameAttributesOf(a: Identity, b: Identity): boolean {
  return a.mode === b.mode && a.uid === b.uid && a.gid === b.gid;
}
