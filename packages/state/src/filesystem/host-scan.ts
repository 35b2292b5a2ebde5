import * as fs from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { type ContentStore, streamDigest } from './content-store.ts';
import { isTooDeep, TooDeepError } from './deep-paths.ts';
import { below, nameFromBytes, osPath } from './path-name.ts';
import { NotAFileError, openToRead } from './regular-file.ts';
import {
  type Attributes,
  type DirectoryNode,
  type FileNode,
  type Stamp,
  sameNode,
  sameStamp,
  type TreeNode,
  withNode,
} from './tree.ts';

/**
 * Scans a directory on disk and returns its picture, sharing everything unchanged with the previous picture.
 *
 * 1. A file is read only if its stamp (inode, mtime, ctime) differs from the previous one, or if that one was `fresh`:
 *    changed so shortly before the scan that a later edit could have the same times.
 * 2. A directory whose picture did not change is the same object as before.
 * 3. An entry that vanishes during the scan counts as absent.
 * 4. Unreadable directories and mounts are opaque; unreadable files are special. The same applies to forbidden entries.
 * 5. It ends soon after its signal, even within a large file, and changes nothing visible.
 */
export interface ScanOptions {
  readonly root: string;
  /** Names of directories that are not scanned. */
  readonly opaque: (name: string) => boolean;
  /** Entries that are never read or opened, whatever their names. */
  readonly forbidden: (stat: fs.Stats) => boolean;
  /** Names directly under the root that are ours and not part of the tree. */
  readonly ignored: (name: string) => boolean;
  /** The wall clock when the scan begins. */
  readonly now: number;
  /** Whether a directory that is nested too deeply is opaque; otherwise scanning it throws. */
  readonly passDeep?: boolean;
  /** Where contents are stored; null leaves changed contents unread. */
  readonly store: ContentStore | null;
  /** Aborts the scan, which throws its reason. */
  readonly signal?: AbortSignal | undefined;
}

export async function scanTree(options: ScanOptions, before: DirectoryNode | undefined): Promise<DirectoryNode> {
  const stat = fs.lstatSync(options.root);
  const scan = new Scan(options);
  return scan.directory('', stat, before);
}

/** Scans only some paths; everything else is assumed unchanged. */
export async function scanPaths(
  options: ScanOptions,
  before: DirectoryNode,
  paths: readonly (readonly string[])[],
): Promise<DirectoryNode> {
  const scan = new Scan(options);
  let root = before;
  for (const parts of paths) root = await scan.path(root, parts);
  return root;
}

/** Scans one existing path, including opaque directories, except forbidden ones. */
export async function scanNode(options: ScanOptions, path: string, before?: TreeNode): Promise<TreeNode | undefined> {
  const stat = fs.lstatSync(osPath(below(options.root, path)), NOT_THERE);
  const scan = new Scan({ ...options, opaque: () => false });
  return stat && scan.node(path, path.slice(path.lastIndexOf('/') + 1), stat, before);
}

/** Entries to scan before yielding to the event loop. */
const ENTRIES_PER_TURN = 512;
const LARGE_FILE = 4 << 20;
const READ_ATTEMPTS = 3;
const NOT_THERE = { throwIfNoEntry: false } as const;

class Scan {
  private readonly options: ScanOptions;
  private readonly device: number;
  private readonly isRoot = process.geteuid?.() === 0;
  private looked = 0;

  constructor(options: ScanOptions) {
    this.options = options;
    this.device = fs.lstatSync(options.root).dev;
  }

  async path(root: DirectoryNode, parts: readonly string[]): Promise<DirectoryNode> {
    let known: TreeNode | undefined = root;
    for (let depth = 0; depth < parts.length; depth++) {
      if (known?.kind !== 'directory') return root;
      const name = parts[depth] as string;
      const child: TreeNode | undefined = known.entries.get(name);
      const at = parts.slice(0, depth + 1);
      const path = at.join('/');
      if (depth === 0 && this.options.ignored(name)) return root;
      const stat = this.lstat(path);
      const inner = depth < parts.length - 1;
      if (!inner || child?.kind !== 'directory' || !stat?.isDirectory() || !this.canEnter(path)) {
        return withNode(root, at, stat === undefined ? undefined : await this.node(path, name, stat, child));
      }
      if (!sameMode(child, stat)) root = withNode(root, at, { ...child, ...attributesOf(stat) });
      known = child;
    }
    return root;
  }

  async directory(path: string, stat: fs.Stats, before: TreeNode | undefined): Promise<DirectoryNode> {
    const known = before?.kind === 'directory' ? before : undefined;
    const same = known !== undefined && known.identity === identityOf(stat) && sameMode(known, stat);
    // Created at the first difference: most directories have none.
    let entries: Map<string, TreeNode> | undefined = same ? undefined : new Map();
    const seen: string[] = [];
    const prefix = path === '' ? '' : `${path}/`;
    for (const name of this.names(path)) {
      if (path === '' && this.options.ignored(name)) continue;
      const own = this.lstat(prefix + name);
      if (own === undefined) continue;
      const old = known?.entries.get(name);
      // The common case of an unchanged file stays free of promises.
      const node = reusable(old, own) ? old : await this.node(prefix + name, name, own, old);
      if (node === undefined) continue;
      if (node !== old) entries ??= entriesOf(known, seen);
      if (entries === undefined) seen.push(name);
      else entries.set(name, node);
      if (++this.looked % ENTRIES_PER_TURN === 0) await setImmediate();
      this.options.signal?.throwIfAborted();
    }
    if (entries === undefined && known?.entries.size === seen.length) return known;
    entries ??= entriesOf(known, seen);
    return { kind: 'directory', ...attributesOf(stat), entries, identity: identityOf(stat) };
  }

  async node(path: string, name: string, stat: fs.Stats, before: TreeNode | undefined): Promise<TreeNode | undefined> {
    if (stat.isDirectory()) {
      const hidden =
        this.options.opaque(name) || this.options.forbidden(stat) || stat.dev !== this.device || this.isTooDeep(path);
      if (!hidden && this.canEnter(path)) return this.directory(path, stat, before);
      const node = { kind: 'opaque' as const, identity: identityOf(stat), ...(!hidden && unreadable(stat)) };
      return before?.kind === 'opaque' && sameNode(before, node) ? before : node;
    }
    const stamp = this.stamp(stat);
    if (this.options.forbidden(stat)) return { kind: 'special', stamp };
    const unreadBefore = this.options.store === null && before?.kind !== 'special';
    if (stat.isFile() && (unreadBefore || this.canRead(path))) {
      return this.file(path, stat, before?.kind === 'file' ? before : undefined);
    }
    if (stat.isFile()) return { kind: 'special', stamp, ...unreadable(stat) };
    if (!stat.isSymbolicLink()) return { kind: 'special', stamp };
    const target = unlessGone(() => nameFromBytes(fs.readlinkSync(this.osPath(path), { encoding: 'buffer' })));
    return target === undefined ? undefined : { kind: 'link', target, stamp };
  }

  private async file(path: string, stat: fs.Stats, before: FileNode | undefined): Promise<FileNode | undefined> {
    const { store } = this.options;
    if (store === null) {
      const stamp = this.stamp(stat);
      // One that was written and has what it had needs no restore, for which a full disk may have no room.
      const mayBeSame = before !== undefined && before.digest !== null && before.size === stat.size;
      const digest = mayBeSame ? await this.digest(path) : null;
      const isSame = mayBeSame && digest === before.digest && before.mode === (stat.mode & 0o7777);
      if (isSame && sameStamp(before.stamp, stamp)) return before;
      return { kind: 'file', ...attributesOf(stat), size: stat.size, digest, stamp };
    }
    let seen = stat;
    for (let attempt = 1; ; attempt++) {
      const digest = await this.content(path, seen, store);
      const after = this.lstat(path);
      if (digest === undefined || after === undefined) return undefined;
      const stamp = this.stamp(after);
      const settled = sameStamp(stamp, this.stamp(seen)) && after.size === seen.size;
      if (settled || attempt === READ_ATTEMPTS) {
        const node: FileNode = {
          kind: 'file',
          ...attributesOf(after),
          size: after.size,
          digest,
          stamp: settled ? stamp : { ...stamp, fresh: true },
        };
        const same = before !== undefined && sameStamp(before.stamp, stamp) && before.digest === digest;
        return same && before.stamp?.fresh === stamp.fresh && before.mode === node.mode ? before : node;
      }
      seen = after;
    }
  }

  private async content(path: string, stat: fs.Stats, store: ContentStore) {
    const fd = this.open(path);
    if (fd === undefined) return undefined;
    if (stat.size >= LARGE_FILE) {
      return store.putStream(fs.createReadStream('', { fd, highWaterMark: 1 << 20, signal: this.options.signal }));
    }
    try {
      return store.put(fs.readFileSync(fd));
    } finally {
      fs.closeSync(fd);
    }
  }

  private async digest(path: string) {
    const fd = this.open(path);
    if (fd === undefined) return null;
    const running = streamDigest();
    for await (const chunk of fs.createReadStream('', { fd, signal: this.options.signal }))
      running.update(chunk as Uint8Array);
    return running.digest();
  }

  /** Undefined if the file is gone or has become something else, which the next scan will see. */
  private open(path: string): number | undefined {
    try {
      return openToRead(this.fullPath(path));
    } catch (cause) {
      if (isGone(cause) || cause instanceof NotAFileError || isLink(cause)) return undefined;
      throw cause;
    }
  }

  /** An unreadable entry cannot be captured: it is noted and left alone. Checked only for changed entries. */
  private canRead(path: string): boolean {
    return this.isRoot || mayAccess(this.osPath(path), fs.constants.R_OK);
  }

  /** A directory that may be listed but not searched shows names and nothing else. */
  private canEnter(path: string): boolean {
    return this.isRoot || mayAccess(this.osPath(path), fs.constants.R_OK | fs.constants.X_OK);
  }

  private isTooDeep(path: string): boolean {
    if (!isTooDeep(this.fullPath(path))) return false;
    if (this.options.passDeep === true) return true;
    throw new TooDeepError(this.fullPath(path));
  }

  private names(path: string): readonly string[] {
    const names = unlessGone(() => fs.readdirSync(this.osPath(path))) ?? [];
    if (!names.some(name => name.includes('\ufffd'))) return names;
    return fs.readdirSync(this.osPath(path), { encoding: 'buffer' }).map(nameFromBytes);
  }

  /** Called for every entry, so it avoids a closure. */
  private lstat(path: string): fs.Stats | undefined {
    try {
      return fs.lstatSync(this.osPath(path), NOT_THERE);
    } catch (cause) {
      if (isGone(cause)) return undefined;
      throw cause;
    }
  }

  private osPath(path: string): string | Buffer {
    return osPath(this.fullPath(path));
  }

  private fullPath(path: string): string {
    return path === '' ? this.options.root : below(this.options.root, path);
  }

  private stamp(stat: fs.Stats): Stamp {
    const { ino, mtimeMs, ctimeMs } = stat;
    return { ino, mtimeMs, ctimeMs, fresh: ctimeMs >= this.options.now - tick(ctimeMs) };
  }
}

/** The known entries with these names. */
function entriesOf(known: DirectoryNode | undefined, names: readonly string[]): Map<string, TreeNode> {
  const entries = new Map<string, TreeNode>();
  for (const name of names) {
    const node = known?.entries.get(name);
    if (node !== undefined) entries.set(name, node);
  }
  return entries;
}

/** The longest time within which two changes can have the same ctime: some file systems store whole seconds. */
function tick(ctimeMs: number): number {
  return Number.isInteger(ctimeMs / 1000) ? 2000 : 20;
}

function reusable(node: TreeNode | undefined, stat: fs.Stats): node is FileNode {
  const stamp = node?.kind === 'file' ? node.stamp : undefined;
  return (
    stamp !== undefined &&
    (node as FileNode).digest !== null &&
    !stamp.fresh &&
    stamp.ino === stat.ino &&
    stamp.mtimeMs === stat.mtimeMs &&
    stamp.ctimeMs === stat.ctimeMs &&
    stat.isFile()
  );
}

/** Identifies a directory wherever it is moved. The inode alone is not enough: it is reused once it is free. */
export function identityOf(stat: fs.Stats): string {
  return `${stat.ino}:${stat.birthtimeMs}`;
}

function attributesOf(stat: fs.Stats): Attributes {
  return { mode: stat.mode & 0o7777, uid: stat.uid, gid: stat.gid };
}

function unreadable(stat: fs.Stats): { readonly attributes: Attributes } {
  return { attributes: attributesOf(stat) };
}

export function mayAccess(path: string | Buffer, mode: number): boolean {
  try {
    fs.accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}

function sameMode(node: DirectoryNode, stat: fs.Stats): boolean {
  return node.mode === (stat.mode & 0o7777) && node.uid === stat.uid && node.gid === stat.gid;
}

function unlessGone<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch (cause) {
    if (isGone(cause)) return undefined;
    throw cause;
  }
}

function isGone(cause: unknown): boolean {
  const { code } = cause as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

function isLink(cause: unknown): boolean {
  return (cause as NodeJS.ErrnoException).code === 'ELOOP';
}
