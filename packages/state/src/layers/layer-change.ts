import type * as fs from 'node:fs';
import * as z from 'zod';
import { fileUser } from './open-files.ts';

/** Identifies an entry on disk that has not changed since it was checked: its inode and times. */
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

/** One change that a layer makes to its root. Paths are relative to both. */
export const layerChange = z.discriminatedUnion('op', [
  /** Removes the entry at the path, with everything below it. */
  z.strictObject({ op: z.literal('remove'), path: z.string(), was: identity }),
  /** Creates a directory. */
  z.strictObject({ op: z.literal('make'), path: z.string(), now: identity }),
  /** Puts a file, link or pipe of the layer into the root; `was` is the entry it replaces. */
  z.strictObject({ op: z.literal('put'), path: z.string(), now: identity, was: identity.nullable() }),
  /** Changes a directory's mode or owner. */
  z.strictObject({ op: z.literal('attributes'), path: z.string(), now: identity, was: identity }),
]);
export type LayerChange = Readonly<z.infer<typeof layerChange>>;

/** A path that both the layer and somebody else changed. */
export const layerConflict = z.strictObject({
  path: z.string(),
  /** The conflicting change. */
  of: z.string(),
  /** What somebody else did; `in-use`: a program has the database open; `open`: or the file, for writing; `mounted`: it is on another
   * filesystem, mounted there; `unreadable`: unknown. */
  theirs: z.enum(['changed', 'deleted', 'created', 'moved', 'in-use', 'open', 'mounted', 'unreadable']),
  /** The programs that have it open, if they are known. */
  by: z.array(fileUser).optional(),
});
export type LayerConflict = Readonly<z.infer<typeof layerConflict>>;

/** All changes of a layer, in an order in which they can be applied. */
export interface ChangeSet {
  /** All changes, including conflicting ones. */
  readonly changes: readonly LayerChange[];
  /** If there is a conflict, nothing may be applied before a person decides. */
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

/** Whether the entry is still the one that was checked. A directory counts as the same whatever happens inside it. */
export function isSame(a: Identity, b: Identity): boolean {
  if (a.kind !== b.kind || a.ino !== b.ino) return false;
  return a.kind === 'directory' || (a.mtime === b.mtime && a.size === b.size && sameAttributesOf(a, b));
}

export function sameAttributesOf(a: Identity, b: Identity): boolean {
  return a.mode === b.mode && a.uid === b.uid && a.gid === b.gid;
}
