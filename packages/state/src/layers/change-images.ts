import * as fs from 'node:fs';
import type { Digest } from '@signalbox/model';
import { type ClosedPaths, lookIntoClosed, openToLook } from '../filesystem/closed-paths.ts';
import type { ContentStore } from '../filesystem/content-store.ts';
import { nameFromBytes, osPath } from '../filesystem/path-name.ts';
import { attributesOf, type DirectoryNode, joined, type TreeNode } from '../filesystem/tree.ts';
import { type Identity, identityOf, type LayerChange } from './layer-change.ts';

/** The paths of a change set before and after it. Both trees contain only these paths. */
export interface ChangeImages {
  readonly before: DirectoryNode;
  readonly after: DirectoryNode;
}

/**
 * Stores the contents that a change set removes and adds. Call it before the set is applied.
 *
 * In directories that tools can regenerate, new files are not read, only identified by inode and time, and only a limited
 * amount of removed content is stored. Anything not stored is `special`: undoing the call reports it.
 */
export async function keepImages(
  place: { readonly root: string; readonly upper: string },
  changes: readonly LayerChange[],
  options: KeepOptions,
): Promise<ChangeImages> {
  const below = lookIntoClosed(place.root);
  const keeper = new Keeper(options, below);
  const before = new Draft(below);
  const after = new Draft(below);
  try {
    for (const change of changes) await keep(change);
    return { before: before.tree(), after: after.tree() };
  } finally {
    below.close();
  }

  function inRoot(path: string, facts: Identity): Promise<TreeNode> {
    const read = () => keeper.inRoot(path, facts);
    return options.known === undefined ? read() : options.known.inRoot(path, facts, read);
  }

  function onLayer(path: string, facts: Identity): Promise<TreeNode> {
    const read = () => keeper.onLayer(`${place.upper}/${path}`, path, facts);
    return options.known === undefined ? read() : options.known.onLayer(path, read);
  }

  async function keep(change: LayerChange): Promise<void> {
    const { path } = change;
    switch (change.op) {
      case 'remove':
        before.set(path, await inRoot(path, change.was));
        // Another change may replace it.
        after.forget(path);
        break;
      case 'make':
        after.makeDirectory(path, change.now);
        before.leaveOut(path);
        break;
      case 'put':
        if (change.was !== null) before.set(path, await inRoot(path, change.was));
        else before.leaveOut(path);
        after.set(path, await onLayer(path, change.now));
        break;
      case 'attributes':
        before.directory(path, change.was);
        after.directory(path, change.now);
        break;
    }
  }
}

interface KeepOptions {
  readonly store: ContentStore;
  readonly refillable: ReadonlySet<string>;
  /** What was stored before and need not be read again. */
  readonly known?: KnownNodes;
}

export interface KnownNodes {
  inRoot(path: string, facts: Identity, read: () => Promise<TreeNode>): Promise<TreeNode>;
  onLayer(path: string, read: () => Promise<TreeNode>): Promise<TreeNode>;
}

const LARGE_FILE = 4 << 20;
const REFILLABLE_FILES = 2000;
const REFILLABLE_BYTES = 64 << 20;

class Keeper {
  private files = 0;
  private bytes = 0;
  private readonly store: ContentStore;
  private readonly refillable: ReadonlySet<string>;
  private readonly below: ClosedPaths;

  constructor({ store, refillable }: KeepOptions, below: ClosedPaths) {
    this.store = store;
    this.refillable = refillable;
    this.below = below;
  }

  async inRoot(path: string, facts: Identity): Promise<TreeNode> {
    switch (facts.kind) {
      case 'link':
        return linkAt(this.below.fullOf(path));
      case 'directory':
        return this.directory(path, facts);
      case 'file':
        return this.goes(path, facts);
      default:
        return { kind: 'special' };
    }
  }

  async onLayer(from: string, path: string, facts: Identity): Promise<TreeNode> {
    if (facts.kind === 'link') return linkAt(from);
    if (facts.kind !== 'file') return { kind: 'special' };
    return this.isRefillable(path) ? unread(facts) : this.file(openToLook(from), facts);
  }

  private async directory(path: string, facts: Identity): Promise<DirectoryNode> {
    const entries = new Map<string, TreeNode>();
    for (const name of this.below.names(path)) {
      const at = joined(path, name);
      const stat = this.below.stat(at);
      if (stat !== undefined) entries.set(name, await this.inRoot(at, identityOf(stat)));
    }
    return { kind: 'directory', ...attributesOf(facts), entries };
  }

  private async goes(path: string, facts: Identity): Promise<TreeNode> {
    if (this.isRefillable(path)) {
      this.files += 1;
      this.bytes += Number(facts.size);
      if (this.files > REFILLABLE_FILES || this.bytes > REFILLABLE_BYTES) return { kind: 'special' };
    }
    return this.file(this.below.openFile(path), facts);
  }

  /** Closes the descriptor. */
  private async file(fd: number, facts: Identity): Promise<TreeNode> {
    const size = Number(facts.size);
    const digest = await (size < LARGE_FILE ? this.whole(fd) : this.store.putStream(streamOf(fd)));
    return { kind: 'file', ...attributesOf(facts), size, digest };
  }

  private whole(fd: number): Promise<Digest> {
    try {
      return this.store.put(fs.readFileSync(fd));
    } finally {
      fs.closeSync(fd);
    }
  }

  private isRefillable(path: string): boolean {
    return path.split('/').some(part => this.refillable.has(part));
  }
}

function linkAt(full: string): TreeNode {
  return { kind: 'link', target: nameFromBytes(fs.readlinkSync(osPath(full), { encoding: 'buffer' })) };
}

function streamOf(fd: number): fs.ReadStream {
  return fs.createReadStream('', { fd, highWaterMark: 1 << 20 });
}

/** A file that is known without its content. */
function unread(facts: Identity): TreeNode {
  const stamp = { ino: Number(facts.ino), mtimeMs: Number(facts.mtime) / 1e6, ctimeMs: 0, fresh: false };
  return { kind: 'file', ...attributesOf(facts), size: Number(facts.size), digest: null, stamp };
}

/** A tree that is filled path by path. Parent directories match the root and are not scanned. */
class Draft {
  private readonly below: ClosedPaths;
  private readonly top: DraftDirectory;

  constructor(below: ClosedPaths) {
    this.below = below;
    this.top = this.asInRoot('') ?? NOWHERE();
  }

  set(path: string, node: TreeNode): void {
    const [parent, name] = this.place(path);
    parent.entries.set(name, node);
  }

  makeDirectory(path: string, facts: Identity): void {
    const [parent, name] = this.place(path);
    parent.entries.set(name, { ...attributesOf(facts), isPartial: false, entries: new Map() });
  }

  /** The directory exists; only its attributes are known. */
  directory(path: string, facts: Identity): void {
    if (path === '') Object.assign(this.top, attributesOf(facts));
    else {
      const [parent, name] = this.place(path);
      const own = parent.entries.get(name);
      if (own !== undefined && 'isPartial' in own) Object.assign(own, attributesOf(facts));
      else if (own === undefined)
        parent.entries.set(name, { ...attributesOf(facts), isPartial: true, entries: new Map() });
    }
  }

  /** The parent directories of a path that does not exist. */
  leaveOut(path: string): void {
    this.place(path);
  }

  forget(path: string): void {
    const [parent, name] = this.place(path);
    parent.entries.delete(name);
  }

  tree(): DirectoryNode {
    return finished(this.top);
  }

  private place(path: string): readonly [DraftDirectory, string] {
    const parts = path.split('/');
    const name = parts.pop() as string;
    let at = this.top;
    for (const [index, part] of parts.entries()) {
      const known = at.entries.get(part);
      const next = known === undefined ? this.asInRoot(parts.slice(0, index + 1).join('/')) : known;
      // Nothing exists below an entry that is not a directory.
      if (next === undefined || !('isPartial' in next)) return [NOWHERE(), name];
      if (known === undefined) at.entries.set(part, next);
      at = next;
    }
    return [at, name];
  }

  private asInRoot(path: string): DraftDirectory | undefined {
    const stat = this.below.stat(path);
    if (!stat?.isDirectory()) return undefined;
    return { ...attributesOf(identityOf(stat)), isPartial: true, entries: new Map() };
  }
}

const NOWHERE = (): DraftDirectory => ({ mode: 0, uid: 0, gid: 0, isPartial: true, entries: new Map() });

interface DraftDirectory {
  mode: number;
  uid: number;
  gid: number;
  isPartial: boolean;
  readonly entries: Map<string, TreeNode | DraftDirectory>;
}

function finished({ isPartial, entries, mode, uid, gid }: DraftDirectory): DirectoryNode {
  const nodes = [...entries].map(([name, entry]): [string, TreeNode] => [
    name,
    'isPartial' in entry ? finished(entry) : entry,
  ]);
  return { kind: 'directory', mode, uid, gid, entries: new Map(nodes), ...(isPartial && { partial: true as const }) };
}
