import * as fs from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { isTooDeep, TooDeepError } from '../filesystem/deep-paths.ts';
import { namesIn, statIfThere } from '../filesystem/directory-names.ts';
import { osPath } from '../filesystem/path-name.ts';
import { joined } from '../filesystem/tree.ts';
import { type Identity, identityOf } from './layer-change.ts';
import { mountsInside } from './mount-table.ts';

/** One entry of a copied tree: as it was in the root, and the stamp of its copy. */
export interface CopiedEntry {
  readonly below: Identity & { readonly ctime: string };
  readonly copy: string;
}

/** A copy of a directory, and what it was made from. */
export interface CopiedTree {
  readonly entries: ReadonlyMap<string, CopiedEntry>;
  /** Whether the filesystem shares the contents with the root (reflink), so that the copy takes no room. */
  readonly isCloned: boolean;
  /** Paths at which other filesystems were mounted. Nothing can be moved to them from the root's filesystem. */
  readonly mounts: readonly string[];
}

/** Limits of a copy. Bytes count only where the filesystem cannot share contents. */
export interface CopyLimits {
  readonly entries: number;
  readonly bytes: number;
}
export const COPY_LIMITS: CopyLimits = { entries: 200_000, bytes: 2 ** 31 };

/** Larger files are copied by another thread; for small ones that takes longer than copying them. */
const LARGE = 1n << 20n;
/** Entries that are copied before others get their turn. */
const AT_ONCE = 50;

/** The directory is larger than may be copied. */
class TooLargeToCopy extends Error {
  override readonly name = 'TooLargeToCopy';
}

/**
 * Copies everything below a directory that can be copied: files, links, directories, with modes, times and, for root, owners. Sockets and
 * devices are left out. A file that changes while it is copied counts as it was before: if the copy is changed, that is a conflict.
 */
export async function copyTree(root: string, to: string, limits: CopyLimits = COPY_LIMITS): Promise<CopiedTree> {
  const entries = new Map<string, CopiedEntry>();
  let bytes = 0n;
  let isCloned: boolean | undefined;
  const isRoot = process.geteuid?.() === 0;

  /** Content and mode. */
  async function copyFile(from: string, into: string, { size, dev }: fs.BigIntStats): Promise<void> {
    const isMounted = dev !== top?.dev;
    if (isCloned === undefined && size > 0n && !isMounted) isCloned = await isCloning(from, into);
    if (isCloned === false || isMounted) bytes += size;
    if (bytes > BigInt(limits.bytes))
      throw new TooLargeToCopy(
        `it has more than ${Math.round(limits.bytes / 2 ** 20)} MB, all of which would be copied`,
      );
    if (size > LARGE) await fs.promises.copyFile(osPath(from), osPath(into), fs.constants.COPYFILE_FICLONE);
    else fs.copyFileSync(osPath(from), osPath(into), fs.constants.COPYFILE_FICLONE);
  }

  async function copy(path: string, below: fs.BigIntStats): Promise<void> {
    if (entries.size % AT_ONCE === 0) await setImmediate();
    if (entries.size >= limits.entries)
      throw new TooLargeToCopy(`it has more than ${limits.entries.toLocaleString('en')} files`);
    const [from, into] = path === '' ? [root, to] : [`${root}/${path}`, `${to}/${path}`];
    if ([from, into].some(isTooDeep)) throw new TooDeepError(from);
    if (below.isSymbolicLink()) fs.symlinkSync(fs.readlinkSync(osPath(from), { encoding: 'buffer' }), osPath(into));
    else if (below.isFile()) await copyFile(from, into, below);
    else if (!below.isDirectory()) return;
    else {
      if (path !== '') fs.mkdirSync(osPath(into), 0o700);
      for (const name of namesIn(from)) {
        const own = statIfThere(`${from}/${name}`);
        if (own !== undefined) await copy(joined(path, name), own);
      }
    }
    if (isRoot) fs.lchownSync(osPath(into), Number(below.uid), Number(below.gid));
    if (!below.isSymbolicLink()) {
      fs.chmodSync(osPath(into), Number(below.mode) & (below.isDirectory() ? 0o7777 : 0o1777));
      fs.utimesSync(osPath(into), Number(below.atimeNs) / 1e9, Number(below.mtimeNs) / 1e9);
    }
    const made = statIfThere(into);
    if (made === undefined) throw new Error(`${into} was removed while it was copied`);
    entries.set(path, { below: { ...identityOf(below), ctime: String(below.ctimeNs) }, copy: stampOf(made) });
  }

  const top = statIfThere(root);
  if (top?.isDirectory() !== true) throw new Error(`${root} is not a directory`);
  await copy('', top);
  const mounts = mountsInside(root).map(mount => mount.slice(root.length + 1));
  return { entries, isCloned: isCloned === true, mounts };
}

/** Changes whenever a file or link does. */
export function stampOf(stat: fs.BigIntStats): string {
  return `${stat.ino} ${stat.ctimeNs} ${stat.size}`;
}

/** Whether the entry of the root is still the one that was copied. */
export function isStill({ below }: CopiedEntry, now: fs.BigIntStats): boolean {
  const { kind, ino, mode, uid, gid } = identityOf(now);
  if (kind !== below.kind || ino !== below.ino) return false;
  if (kind === 'directory') return mode === below.mode && uid === below.uid && gid === below.gid;
  return String(now.ctimeNs) === below.ctime;
}

/** Whether the filesystem can share a file's content with a copy. */
async function isCloning(from: string, into: string): Promise<boolean> {
  try {
    await fs.promises.copyFile(osPath(from), osPath(into), fs.constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch {
    return false;
  }
}
