import type { Digest } from '@signalbox/model';

/**
 * A picture of a directory tree. Nodes never change: a new picture shares every directory that did not change with the
 * one before it, so equal subtrees are mostly the same object and comparing them costs nothing.
 */
export type TreeNode = FileNode | LinkNode | DirectoryNode | OpaqueNode | SpecialNode;

export interface FileNode {
  readonly kind: 'file';
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
  /** Null if the content was not read: then only the stamp distinguishes files. */
  readonly digest: Digest | null;
  readonly stamp?: Stamp;
}

export interface LinkNode {
  readonly kind: 'link';
  readonly target: string;
  readonly stamp?: Stamp;
}

export interface DirectoryNode {
  readonly kind: 'directory';
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly entries: ReadonlyMap<string, TreeNode>;
  /** Known if it was seen on disk: it identifies an opaque directory under another name. */
  readonly identity?: string;
  /** Only some entries are known. */
  readonly partial?: true;
}

export interface Attributes {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** A directory that is not scanned. Its identity distinguishes a moved one from a new one. */
export interface OpaqueNode {
  readonly kind: 'opaque';
  readonly identity: string;
  /** Known if it is opaque only because we may not read it: these can be restored. */
  readonly attributes?: Attributes | undefined;
}

/** A socket, a pipe, a device, or an unreadable file: noted, never restored. */
interface SpecialNode {
  readonly kind: 'special';
  readonly stamp?: Stamp;
  /** For an unreadable file. */
  readonly attributes?: Attributes | undefined;
}

/** Identifies an unchanged file without reading it. `fresh`: it changed too recently to be sure. */
export interface Stamp {
  readonly ino: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly fresh: boolean;
}

export const EMPTY_DIRECTORY: DirectoryNode = { kind: 'directory', mode: 0o755, uid: 0, gid: 0, entries: new Map() };

export function nodeAt(root: DirectoryNode, parts: readonly string[]): TreeNode | undefined {
  let node: TreeNode | undefined = root;
  for (const part of parts) {
    if (node?.kind !== 'directory') return undefined;
    node = node.entries.get(part);
  }
  return node;
}

/** The tree with one node set, or removed if undefined. Its parent must exist. */
export function withNode(root: DirectoryNode, parts: readonly string[], node: TreeNode | undefined): DirectoryNode {
  const [name, ...rest] = parts;
  if (name === undefined) return node?.kind === 'directory' ? node : root;
  const child = root.entries.get(name);
  const next = rest.length === 0 ? node : child?.kind === 'directory' ? withNode(child, rest, node) : child;
  if (next === child) return root;
  const entries = new Map(root.entries);
  if (next === undefined) entries.delete(name);
  else entries.set(name, next);
  return { ...root, entries };
}

/** Whether two nodes are equal to a reader: kind, content, mode and owner. Stamps do not count. */
export function sameNode(a: TreeNode | undefined, b: TreeNode | undefined): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  if (a.kind === 'directory' && b.kind === 'directory') {
    if (!sameAttributes(a, b) || a.entries.size !== b.entries.size) return false;
    for (const [name, child] of a.entries) if (!sameNode(child, b.entries.get(name))) return false;
    return true;
  }
  if (a.kind === 'file' && b.kind === 'file') return sameAttributes(a, b) && sameContent(a, b);
  if (a.kind === 'link' && b.kind === 'link') return a.target === b.target;
  if (a.kind === 'opaque' && b.kind === 'opaque') {
    return a.identity === b.identity && sameIfKnown(a.attributes, b.attributes);
  }
  if (a.kind === 'special' && b.kind === 'special') return sameIfKnown(a.attributes, b.attributes);
  return a.kind === b.kind;
}

export function sameContent(a: FileNode, b: FileNode): boolean {
  if (a.size !== b.size) return false;
  return a.digest !== null && b.digest !== null ? a.digest === b.digest : sameStamp(a.stamp, b.stamp);
}

export function sameAttributes(a: Attributes, b: Attributes): boolean {
  return a.mode === b.mode && a.uid === b.uid && a.gid === b.gid;
}

function sameIfKnown(a: Attributes | undefined, b: Attributes | undefined): boolean {
  return a === undefined || b === undefined || sameAttributes(a, b);
}

export function attributesOf({ mode, uid, gid }: Attributes): Attributes {
  return { mode, uid, gid };
}

export function sameStamp(a: Stamp | undefined, b: Stamp | undefined): boolean {
  return a !== undefined && b !== undefined && a.ino === b.ino && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs;
}

/** The paths at which two trees differ, each as high up as it differs. */
export function differingPaths(a: TreeNode | undefined, b: TreeNode | undefined, at = ''): readonly string[] {
  if (sameNode(a, b)) return [];
  if (a?.kind !== 'directory' || b?.kind !== 'directory') return [at];
  const paths: string[] = sameAttributes(a, b) ? [] : [at === '' ? '.' : at];
  for (const name of new Set([...a.entries.keys(), ...b.entries.keys()])) {
    paths.push(...differingPaths(a.entries.get(name), b.entries.get(name), joined(at, name)));
  }
  return paths;
}

export function joined(parent: string, name: string): string {
  return parent === '' ? name : `${parent}/${name}`;
}
