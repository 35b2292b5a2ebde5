import * as fs from 'node:fs';
import { type ClosedPaths, lookIntoClosed, openToLook } from '../filesystem/closed-paths.ts';
import { isTooDeep, TooDeepError } from '../filesystem/deep-paths.ts';
import { namesIn, statIfThere } from '../filesystem/directory-names.ts';
import { osPath } from '../filesystem/path-name.ts';
import { joined } from '../filesystem/tree.ts';
import { dropPrivilege, isPrivileged } from '../sandbox/privileged-files.ts';
import { type CopiedEntry, type CopiedTree, isStill, stampOf } from './copied-tree.ts';
import { companionsOf, databaseOf, filesInUse, inUseConflict } from './files-in-use.ts';
import {
  type ChangeSet,
  identityOf,
  kindOf,
  type LayerChange,
  type LayerConflict,
  sameAttributesOf,
} from './layer-change.ts';
import { atMounts } from './mount-table.ts';
import { sameBytes } from './same-bytes.ts';

type Stat = fs.BigIntStats;

/**
 * Reads the changes on a copy of a directory, and compares them with the directory now. The cost depends on the size of the tree.
 *
 * 1. An entry of the copy whose inode and times are as they were made is not a change, nor is one that equals the root's.
 * 2. Entries of the root that would be replaced or removed must be the ones that were copied; otherwise it is a conflict. So must the
 *    directories around a change.
 * 3. What is on a filesystem that is mounted inside the root cannot be changed: nothing can be moved there, or aside from there.
 * 4. Related files conflict together, and a file that a program has open for writing is in use, as on a layer.
 */
export function readCopy(root: string, copy: string, tree: CopiedTree): ChangeSet {
  const below = lookIntoClosed(root);
  try {
    const reading = new CopyReading({ root, copy, tree, below });
    reading.start();
    return { changes: reading.ordered(), conflicts: reading.conflicts };
  } finally {
    below.close();
  }
}

/** Paths that differ from what was copied, while a program may work on the copy. Nothing is checked for conflicts. */
export function changedInCopy(copy: string, { entries }: CopiedTree): readonly string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  const look = (path: string) => {
    for (const name of readable(`${copy}/${path}`)) {
      const at = joined(path, name);
      const [now, known] = [statIfThere(`${copy}/${at}`), entries.get(at)];
      if (now === undefined) continue;
      seen.add(at);
      if (now.isDirectory() && known?.below.kind === 'directory') look(at);
      else if (known === undefined || known.copy !== stampOf(now)) found.push(at);
    }
  };
  look('');
  for (const [path] of entries) if (path !== '' && !seen.has(path)) found.push(path);
  return found;
}

function readable(directory: string): readonly string[] {
  try {
    return namesIn(directory);
  } catch {
    return [];
  }
}

interface Place {
  readonly root: string;
  readonly copy: string;
  readonly tree: CopiedTree;
  /** The current root. */
  readonly below: ClosedPaths;
}

class CopyReading {
  readonly conflicts: LayerConflict[] = [];
  private readonly removes: LayerChange[] = [];
  private readonly makes: LayerChange[] = [];
  private readonly puts: LayerChange[] = [];
  private readonly attributes: LayerChange[] = [];
  /** Removed or replaced files, and the databases they belong to, with the responsible change. */
  private readonly replaced = new Map<string, string>();
  /** The names that each directory had. */
  private readonly children = new Map<string, string[]>();
  private readonly place: Place;

  constructor(place: Place) {
    this.place = place;
    for (const path of place.tree.entries.keys()) {
      if (path === '') continue;
      const parent = path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '';
      this.children.set(parent, [...(this.children.get(parent) ?? []), path]);
    }
  }

  start(): void {
    const above = statIfThere(this.place.copy);
    const [known, there] = [this.place.tree.entries.get(''), this.place.below.stat('')];
    if (above === undefined || known === undefined || there === undefined)
      throw new Error('the copy or its root is gone');
    this.directoryAttributes('', above, known, there);
    this.inside('', true);
    for (const { path } of atMounts(this.ordered(), this.place.tree.mounts)) this.conflict(path, 'mounted');
    for (const file of filesInUse(this.place.root, this.replaced.keys()))
      this.conflicts.push(inUseConflict(file, this.replaced.get(file.path) ?? file.path));
  }

  /** Removals come first; directories are created top down and get their attributes at the end. */
  ordered(): readonly LayerChange[] {
    return [...this.removes, ...this.makes, ...this.puts, ...this.attributes.toReversed()];
  }

  /** The entries of a directory of the copy. `wasThere`: it was copied from a directory of the root. */
  private inside(path: string, wasThere: boolean): void {
    const { copy, root, tree, below } = this.place;
    if ([copy, root].some(top => isTooDeep(`${top}/${path}`))) throw new TooDeepError(`${root}/${path}`);
    const full = path === '' ? copy : `${copy}/${path}`;
    if (!may(full)) fs.chmodSync(osPath(full), 0o700);
    const before = this.count();
    const known = wasThere ? (this.children.get(path) ?? []) : [];
    const now = new Set(namesIn(full).map(name => joined(path, name)));
    for (const at of known) if (!now.has(at)) this.removed(at);
    for (const at of now) {
      const above = this.unprivileged(at);
      if (above?.isDirectory() === true) this.directory(at, above, wasThere ? tree.entries.get(at) : undefined);
      else if (above !== undefined && kindOf(above) !== 'other') this.file(at, above, tree.entries.get(at));
    }
    if (!wasThere || path === '' || this.count() === before) return;
    // A change below a directory that somebody moved would land elsewhere.
    const there = below.stat(path);
    if (there === undefined || identityOf(there).ino !== tree.entries.get(path)?.below.ino)
      this.conflict(path, 'moved');
  }

  private count(): number {
    return this.removes.length + this.makes.length + this.puts.length + this.attributes.length;
  }

  /** Set-uid and set-gid bits never leave a copy. */
  private unprivileged(path: string): Stat | undefined {
    const full = `${this.place.copy}/${path}`;
    const above = statIfThere(full);
    if (above === undefined || !isPrivileged(above)) return above;
    dropPrivilege(full, above.mode);
    return statIfThere(full);
  }

  private directory(path: string, above: Stat, known: CopiedEntry | undefined): void {
    const there = this.place.below.stat(path);
    if (known?.below.kind === 'directory' && there?.isDirectory() === true) {
      this.directoryAttributes(path, above, known, there);
      this.inside(path, true);
      return;
    }
    if (known?.below.kind === 'directory') {
      // Somebody removed or replaced it. That matters only if something in it was changed.
      const before = this.count();
      this.inside(path, true);
      if (this.count() > before) this.conflict(path, there === undefined ? 'deleted' : 'moved');
      return;
    }
    if (known !== undefined) this.removed(path);
    else if (there !== undefined && !there.isDirectory()) {
      this.conflict(path, 'created');
      this.removes.push({ op: 'remove', path, was: identityOf(there) });
    }
    if (known !== undefined || there?.isDirectory() !== true)
      this.makes.push({ op: 'make', path, now: identityOf(above) });
    this.inside(path, false);
  }

  private file(path: string, above: Stat, known: CopiedEntry | undefined): void {
    if (known !== undefined && known.copy === stampOf(above)) return;
    const there = this.place.below.stat(path);
    const now = identityOf(above);
    if (there?.isDirectory() === true) {
      if (known?.below.kind !== 'directory') this.conflict(path, 'created');
      this.removed(path);
      this.puts.push({ op: 'put', path, now, was: null });
      return;
    }
    if (there === undefined) {
      if (known !== undefined) this.conflict(path, 'deleted');
      this.puts.push({ op: 'put', path, now, was: null });
    } else if (this.isEqual(path, above, there)) return;
    else {
      if (known === undefined) this.conflict(path, 'created');
      else if (!isStill(known, there)) this.conflict(path, 'changed');
      this.puts.push({ op: 'put', path, now, was: identityOf(there) });
    }
    this.companions(path);
  }

  private removed(path: string): void {
    const there = this.place.below.stat(path);
    if (there === undefined) return;
    for (const at of this.newerBelow(path, there, path)) this.conflict(at, 'changed', path);
    this.removes.push({ op: 'remove', path, was: identityOf(there) });
    this.companions(path);
  }

  /** Entries below a removed path that are not the ones that were copied. */
  private *newerBelow(path: string, stat: Stat, of: string): Generator<string> {
    const known = this.place.tree.entries.get(path);
    if (known === undefined ? kindOf(stat) !== 'other' : !isStill(known, stat)) yield path;
    if (stat.isFile()) this.replaces(path, of);
    if (!stat.isDirectory()) return;
    if (!this.place.below.canLook(path)) {
      this.conflict(path, 'unreadable', of);
      return;
    }
    for (const name of this.place.below.names(path)) {
      const at = joined(path, name);
      const own = this.place.below.stat(at);
      if (own !== undefined) yield* this.newerBelow(at, own, of);
    }
  }

  private directoryAttributes(path: string, above: Stat, known: CopiedEntry, there: Stat): void {
    const [now, was] = [identityOf(above), identityOf(there)];
    const wanted = process.geteuid?.() === 0 ? now : { ...now, uid: known.below.uid, gid: known.below.gid };
    if (sameAttributesOf(wanted, known.below) || sameAttributesOf(wanted, was)) return;
    if (!isStill(known, there)) this.conflict(path, 'changed');
    this.attributes.push({ op: 'attributes', path, now: wanted, was });
  }

  private companions(path: string): void {
    this.replaces(path, path);
    for (const at of companionsOf(path)) {
      const there = this.place.below.stat(at);
      if (there === undefined) continue;
      const known = this.place.tree.entries.get(at);
      if (known !== undefined && isStill(known, there)) continue;
      const above = statIfThere(`${this.place.copy}/${at}`);
      if (above === undefined || !this.isEqual(at, above, there)) this.conflict(at, 'changed', path);
    }
  }

  private isEqual(path: string, above: Stat, there: Stat): boolean {
    const [now, was] = [identityOf(above), identityOf(there)];
    const { copy, root, below } = this.place;
    if (now.kind !== was.kind) return false;
    if (now.kind === 'pipe') return now.mode === was.mode;
    if (now.kind === 'link') {
      const [own, other] = [copy, root].map(one => fs.readlinkSync(osPath(`${one}/${path}`), { encoding: 'buffer' }));
      return own !== undefined && other !== undefined && own.equals(other);
    }
    if (!sameAttributesOf(now, was) || now.size !== was.size) return false;
    return sameBytes(
      () => openToLook(`${copy}/${path}`),
      () => below.openFile(path),
    );
  }

  private replaces(path: string, of: string): void {
    for (const one of [path, databaseOf(path)]) this.replaced.set(one, of);
  }

  private conflict(path: string, theirs: LayerConflict['theirs'], of = path): void {
    if (!this.conflicts.some(one => one.path === path && one.of === of)) this.conflicts.push({ path, theirs, of });
  }
}

function may(directory: string): boolean {
  try {
    fs.accessSync(osPath(directory), fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
