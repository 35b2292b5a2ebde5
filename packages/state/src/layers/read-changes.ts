import * as fs from 'node:fs';
import { type ClosedPaths, lookIntoClosed, openToLook } from '../filesystem/closed-paths.ts';
import { isTooDeep, TooDeepError } from '../filesystem/deep-paths.ts';
import { namesIn, statIfThere } from '../filesystem/directory-names.ts';
import { osPath } from '../filesystem/path-name.ts';
import { joined } from '../filesystem/tree.ts';
import { dropPrivilege, isPrivileged } from '../sandbox/privileged-files.ts';
import { companionsOf, databaseOf, filesInUse, inUseConflict } from './files-in-use.ts';
import type { Layer } from './layer.ts';
import {
  type ChangeSet,
  identityOf,
  kindOf,
  type LayerChange,
  type LayerConflict,
  sameAttributesOf,
} from './layer-change.ts';
import { sameBytes } from './same-bytes.ts';

/**
 * Reads a layer's writes and compares them with its current root. The cost depends on the changes, not on the tree.
 *
 * 1. An entry that equals the root's is not a change, unless the layer gave it another name that is one.
 * 2. Entries of the root that would be replaced or removed must be older than the layer; otherwise it is a conflict.
 * 3. A parent directory must be the one that the layer was mounted over. The layer shows the inode of a copy's origin; if it
 *    cannot, because it is on another filesystem, a directory counts as moved if it and its parent both changed.
 * 4. A directory that was removed and recreated hides its old entries: they count as removed.
 * 5. Entries nested too deeply are refused: they could not be kept or restored.
 * 6. Entries closed by their owner are opened for reading, and closed again.
 * 7. Related files conflict together: a database and its log, the parts of a git repository. A file that a program has open for
 *    writing is in use, even below a removed directory: the program would keep writing to the replaced file.
 */
export function readChanges(layer: LayerPlace, view: string): ChangeSet {
  const below = lookIntoClosed(layer.root);
  try {
    const reading = new Reading(layer, view, below);
    reading.start();
    return { changes: reading.ordered(), conflicts: reading.conflicts };
  } finally {
    below.close();
  }
}

/**
 * The changes on a layer while a program works on it: nothing on the layer is touched, and nothing is checked for conflicts. Throws if
 * something is closed to us. Directories that are `leftOut` are not read.
 */
export function readLiveChanges(layer: LayerPlace, view: string, leftOut: ReadonlySet<string>): readonly LayerChange[] {
  const below = lookIntoClosed(layer.root);
  try {
    const reading = new Reading(layer, view, below, leftOut);
    reading.start();
    return reading.ordered();
  } finally {
    below.close();
  }
}

type LayerPlace = Pick<Layer, 'root' | 'directory' | 'since'>;

type Stat = fs.BigIntStats;
type Put = Extract<LayerChange, { op: 'put' }>;

class Reading {
  readonly conflicts: LayerConflict[] = [];
  private readonly removes: LayerChange[] = [];
  private readonly makes: LayerChange[] = [];
  private readonly puts: Put[] = [];
  private readonly attributes: LayerChange[] = [];
  /** Removed or replaced files, and the databases they belong to, with the responsible change. */
  private readonly replaced = new Map<string, string>();
  /** Copies of files that have left their path, by origin. */
  private readonly origins = new Map<string, string>();
  /** Entries equal to the root's, with other names on the layer, by inode. */
  private readonly linked = new Map<string, Put[]>();
  /** Origins of copies that are still at the same path: another name for the copy was created by the command. */
  private readonly inPlace = new Set<string>();
  private readonly root: string;
  /** The current root. */
  private readonly below: ClosedPaths;
  private readonly upper: string;
  private readonly view: string;
  private readonly since: bigint;
  /** While a program works on the layer: the directories that are not read. */
  private readonly live: ReadonlySet<string> | undefined;
  /** Whether the layer shows each copy's origin. */
  private readonly showsOrigins: boolean;

  constructor({ root, directory, since }: LayerPlace, view: string, below: ClosedPaths, live?: ReadonlySet<string>) {
    this.root = root;
    this.below = below;
    this.upper = `${directory}/upper`;
    this.view = view;
    this.since = since;
    this.live = live;
    this.showsOrigins = statIfThere(this.upper)?.dev === below.stat('')?.dev;
  }

  start(): void {
    const [above, below] = [statIfThere(this.upper), this.below.stat('')];
    if (above === undefined || below === undefined) throw new Error('the layer or its root is gone');
    this.directoryAttributes('', above, below);
    this.inside('', below);
    this.keepLinks();
    if (this.live !== undefined) return;
    // An entry that the command moved is a copy of something it removed elsewhere.
    const removed = new Set(this.removes.map(change => (change.op === 'remove' ? change.was.ino : '')));
    for (const [path, origin] of this.origins) {
      if (!removed.has(origin) && !this.inPlace.has(origin)) this.conflict(path, 'moved');
    }
    for (const file of filesInUse(this.root, this.replaced.keys()))
      this.conflicts.push(inUseConflict(file, this.replaced.get(file.path) ?? file.path));
  }

  /** Removals come first; directories are created top down and get their attributes at the end. */
  ordered(): readonly LayerChange[] {
    return [...this.removes, ...this.makes, ...this.puts, ...this.attributes.toReversed()];
  }

  /** The entries of a directory in `upper`. `below` is the root's version: undefined if it is new. */
  private inside(path: string, below: Stat | undefined): void {
    const deep = [this.upper, this.root].some(top => isTooDeep(`${top}/${path}`));
    if (deep) throw new TooDeepError(`${this.root}/${path}`);
    this.makeUsable(path);
    if (below !== undefined && !this.canLook(path)) return;
    for (const name of namesIn(`${this.upper}/${path}`)) {
      const at = joined(path, name);
      const above = this.unprivileged(at, statIfThere(`${this.upper}/${at}`));
      if (above === undefined) continue;
      const there = below === undefined ? undefined : this.below.stat(at);
      if (isWhiteout(above)) this.removed(at, there);
      else if (above.isDirectory()) this.directory(at, above, there, below);
      else if (kindOf(above) !== 'other') this.file(at, above, there, below);
    }
  }

  /** Set-uid and set-gid bits never leave a layer. */
  private unprivileged(path: string, above: Stat | undefined): Stat | undefined {
    if (above === undefined || !isPrivileged(above) || this.live !== undefined) return above;
    dropPrivilege(`${this.view}/${path}`, above.mode);
    return statIfThere(`${this.upper}/${path}`);
  }

  /** A directory closed by its owner is opened on the layer; its final mode is already known. */
  private makeUsable(path: string): void {
    if (this.live === undefined && !may(`${this.upper}/${path}`, READ | fs.constants.W_OK))
      fs.chmodSync(osPath(`${this.view}/${path}`), 0o700);
  }

  /** Whether a directory of the root can be read; if only another user may, that is a conflict. */
  private canLook(path: string): boolean {
    if (this.below.canLook(path)) return true;
    this.conflict(path, 'unreadable');
    return false;
  }

  private directory(path: string, above: Stat, there: Stat | undefined, parent: Stat | undefined): void {
    if (this.live?.has(path) === true) return;
    if (there?.isDirectory() !== true) {
      if (there !== undefined) {
        if (!this.isOlder(there)) this.conflict(path, 'created');
        this.removes.push({ op: 'remove', path, was: identityOf(there) });
      } else if (parent !== undefined && this.wasThere(path, above, parent)) this.conflict(path, 'deleted');
      this.makes.push({ op: 'make', path, now: identityOf(above) });
      this.inside(path, undefined);
      return;
    }
    const relation = this.relation(path, above, there, parent);
    if (relation === 'moved') this.conflict(path, 'moved');
    if (relation === 'copied' || relation === 'made-again') this.directoryAttributes(path, above, there);
    if (relation === 'made-again') {
      for (const name of this.below.names(path)) {
        const at = joined(path, name);
        if (statIfThere(`${this.upper}/${at}`) === undefined) this.removed(at, this.below.stat(at));
      }
    }
    this.inside(path, there);
  }

  /** How a directory of the layer relates to the one at its path in the root now. */
  private relation(
    path: string,
    above: Stat,
    there: Stat,
    parent: Stat | undefined,
  ): 'copied' | 'made-again' | 'both-made' | 'moved' {
    if (this.showsOrigins) {
      const shown = statIfThere(`${this.view}/${path}`);
      if (shown === undefined) return 'moved';
      if (shown.ino === there.ino) return 'copied';
      if (shown.ino !== above.ino) return 'moved';
      if (this.isOlder(there)) return 'made-again';
      return there.birthtimeNs >= this.since ? 'both-made' : 'moved';
    }
    if (!this.isOlder(there) && parent !== undefined && !this.isOlder(parent)) return 'moved';
    return this.hidesOld(path) ? 'made-again' : 'copied';
  }

  /** Whether an entry from before the layer is hidden on the layer without being deleted by name. */
  private hidesOld(path: string): boolean {
    for (const name of this.below.names(path)) {
      const at = joined(path, name);
      const there = this.below.stat(at);
      if (there === undefined || !this.isOlder(there) || statIfThere(`${this.upper}/${at}`) !== undefined) continue;
      return statIfThere(`${this.view}/${at}`) === undefined;
    }
    return false;
  }

  private file(path: string, above: Stat, there: Stat | undefined, parent: Stat | undefined): void {
    const now = identityOf(above);
    let was = there === undefined ? null : identityOf(there);
    const origin = this.showsOrigins ? statIfThere(`${this.view}/${path}`)?.ino : undefined;
    if (origin !== undefined && origin === there?.ino) this.inPlace.add(String(origin));
    if (there === undefined) {
      // A deleted file cannot be distinguished from one that never existed: it reappears, and nothing is lost.
      const mayBeMoved = origin !== undefined && origin !== above.ino && parent !== undefined && !this.isOlder(parent);
      if (mayBeMoved) this.origins.set(path, String(origin));
    } else if (there.isDirectory()) {
      this.removed(path, there);
      was = null;
    } else if (this.isEqual(path, above, there)) {
      const isLinked = above.nlink > 1n && this.isOlder(there);
      if (isLinked) this.linked.set(now.ino, [...(this.linked.get(now.ino) ?? []), { op: 'put', path, now, was }]);
      return;
    } else if (!this.isOlder(there)) this.conflict(path, 'changed');
    this.puts.push({ op: 'put', path, now, was });
    if (parent !== undefined) this.companions(path);
  }

  /** A new name for an unchanged file: both names get the same file, as on the layer. */
  private keepLinks(): void {
    const put = new Set(this.puts.map(({ now }) => now.ino));
    for (const [ino, changes] of this.linked) if (put.has(ino)) this.puts.push(...changes);
  }

  /** Whether an entry in the upper directory is a copy of one in the root. */
  private wasThere(path: string, above: Stat, parent: Stat): boolean {
    if (!this.showsOrigins) return !this.isOlder(parent);
    const shown = statIfThere(`${this.view}/${path}`);
    return shown !== undefined && shown.ino !== above.ino;
  }

  private removed(path: string, there: Stat | undefined): void {
    if (there === undefined) return;
    if (this.live !== undefined) {
      this.removes.push({ op: 'remove', path, was: identityOf(there) });
      return;
    }
    for (const at of this.newerBelow(path, there, path)) this.conflict(at, 'changed', path);
    this.removes.push({ op: 'remove', path, was: identityOf(there) });
    this.companions(path);
  }

  private *newerBelow(path: string, stat: Stat, of: string): Generator<string> {
    if (!this.isOlder(stat)) yield path;
    if (stat.isFile()) this.replaces(path, of);
    if (!stat.isDirectory() || !this.canLook(path)) return;
    for (const name of this.below.names(path)) {
      const at = joined(path, name);
      const own = this.below.stat(at);
      if (own !== undefined) yield* this.newerBelow(at, own, of);
    }
  }

  private directoryAttributes(path: string, above: Stat, there: Stat): void {
    const [now, was] = [identityOf(above), identityOf(there)];
    // If we may not give files away, the copy of another user's directory is ours: that is not a change.
    const wanted = isRootUser() ? now : { ...now, uid: was.uid, gid: was.gid };
    if (sameAttributesOf(wanted, was)) return;
    if (!this.isOlder(there)) this.conflict(path, 'changed');
    this.attributes.push({ op: 'attributes', path, now: wanted, was });
  }

  private companions(path: string): void {
    if (this.live !== undefined) return;
    this.replaces(path, path);
    for (const at of companionsOf(path)) {
      const there = this.below.stat(at);
      if (there === undefined) continue;
      if (!this.isOlder(there) && !this.isUnchanged(at, there)) this.conflict(at, 'changed', path);
    }
  }

  /** Whether the layer has the same entry: then both made the same change. */
  private isUnchanged(path: string, there: Stat): boolean {
    const above = statIfThere(`${this.upper}/${path}`);
    return above !== undefined && !isWhiteout(above) && this.isEqual(path, above, there);
  }

  private isEqual(path: string, above: Stat, there: Stat): boolean {
    const [now, was] = [identityOf(above), identityOf(there)];
    if (now.kind !== was.kind) return false;
    if (now.kind === 'pipe') return now.mode === was.mode;
    if (now.kind === 'link') {
      const [own, other] = [this.upper, this.root].map(one =>
        fs.readlinkSync(osPath(`${one}/${path}`), { encoding: 'buffer' }),
      ) as [Buffer, Buffer];
      return own.equals(other);
    }
    // A changed time counts as a change, unless somebody else wrote the same content meanwhile.
    if (!sameAttributesOf(now, was) || (now.mtime !== was.mtime && this.isOlder(there))) return false;
    if (now.size !== was.size) return false;
    return sameBytes(
      () => openToLook(`${this.view}/${path}`),
      () => this.below.openFile(path),
    );
  }

  private isOlder(stat: Stat): boolean {
    return stat.ctimeNs < this.since;
  }

  private replaces(path: string, of: string): void {
    for (const one of [path, databaseOf(path)]) this.replaced.set(one, of);
  }

  private conflict(path: string, theirs: LayerConflict['theirs'], of = path): void {
    if (!this.conflicts.some(one => one.path === path && one.of === of)) this.conflicts.push({ path, theirs, of });
  }
}

/** The overlay's representation of a deletion. */
function isWhiteout(stat: Stat): boolean {
  return stat.isCharacterDevice() && stat.rdev === 0n;
}

const READ = fs.constants.R_OK | fs.constants.X_OK;

function may(directory: string, access: number): boolean {
  if (isRootUser()) return true;
  try {
    fs.accessSync(osPath(directory), access);
    return true;
  } catch {
    return false;
  }
}

function isRootUser(): boolean {
  return process.geteuid?.() === 0;
}
