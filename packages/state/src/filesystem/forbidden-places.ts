import * as fs from 'node:fs';
import { mountsInside } from '../layers/mount-table.ts';
import { isWithin } from './path-locks.ts';
import { below, nameFromBytes, osPath } from './path-name.ts';

/**
 * Directories that no path may enter, such as the data directory.
 *
 * 1. They are identified by device and inode, not by path: a mount can show one elsewhere, and a path has many spellings.
 * 2. So are the files at their top, such as databases and lock files, under other names (hard links). Merely opening and
 *    closing one of them would release every lock that this process holds on it.
 */
export interface ForbiddenPlaces {
  /** Real, absolute paths, including those at which a mount shows one of them inside the root. */
  readonly paths: readonly string[];
  /** Only the mounted ones. */
  readonly mounted: readonly string[];
  /** Whether this is one of the directories or their files. */
  has(stat: fs.Stats): boolean;
  /** Whether a real path is one of them or inside one, by any route. */
  holds(path: string): boolean;
  /** Whether a path is in one of them, or around one. */
  touches(path: string): boolean;
}

/** The directories that exist. */
export function forbiddenPlaces(directories: readonly string[], root?: string): ForbiddenPlaces {
  const there = [...new Set(directories.flatMap(directory => realDirectory(directory) ?? []))];
  const mounted = root === undefined ? [] : there.flatMap(path => mountedIn(root, path));
  const paths = [...there, ...mounted];
  const identities = new Set(paths.map(path => identityOf(fs.statSync(osPath(path)))));
  const devices = new Set(paths.map(path => fs.statSync(osPath(path)).dev));
  let files: ReadonlySet<string> = new Set();
  let lookedAt = Number.NEGATIVE_INFINITY;
  const ownFiles = () => {
    if (performance.now() - lookedAt > RECENT_MS) {
      files = new Set(paths.flatMap(path => linkedFiles(path, DEPTH)));
      lookedAt = performance.now();
    }
    return files;
  };
  return {
    paths,
    mounted,
    has(stat) {
      if (stat.isDirectory()) return identities.has(identityOf(stat));
      return stat.nlink > 1 && devices.has(stat.dev) && ownFiles().has(identityOf(stat));
    },
    holds(path) {
      return [path, ...ancestorsOf(path)].some(one => identities.has(identityAt(one) ?? ''));
    },
    touches: path => paths.some(one => isWithin(path, one) || isWithin(one, path)),
  };
}

/** How deep a lock file may be below its directory: `owner.lock`, `locks/<name>`. */
const DEPTH = 2;
const RECENT_MS = 1000;

/** Other paths of a directory inside a root: the root, or a mount inside it, may be one of its parents by another path. */
function mountedIn(root: string, path: string): readonly string[] {
  const above = [path, ...ancestorsOf(path)];
  return [root, ...mountsInside(root)].flatMap(top => {
    const identity = identityAt(top);
    const same = identity === undefined ? undefined : above.find(one => identityAt(one) === identity);
    if (same === undefined) return [];
    const shown = same === path ? top : below(top, path.slice(below(same, '').length));
    return shown === path || identityAt(shown) !== identityAt(path) ? [] : [shown];
  });
}

function identityAt(path: string): string | undefined {
  try {
    const stat = fs.lstatSync(osPath(path), { throwIfNoEntry: false });
    return stat?.isDirectory() ? identityOf(stat) : undefined;
  } catch {
    return undefined;
  }
}

function ancestorsOf(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, cut) => parts.slice(0, cut + 1).join('/') || '/');
}

function identityOf({ dev, ino }: fs.Stats): string {
  return `${dev}:${ino}`;
}

/** Files with several names. */
function linkedFiles(directory: string, depth: number): readonly string[] {
  try {
    return fs.readdirSync(osPath(directory), { encoding: 'buffer' }).flatMap(name => {
      const path = `${directory}/${nameFromBytes(name)}`;
      const stat = fs.lstatSync(osPath(path), { throwIfNoEntry: false });
      if (stat?.isDirectory()) return depth > 1 ? linkedFiles(path, depth - 1) : [];
      return stat?.isFile() && stat.nlink > 1 ? [identityOf(stat)] : [];
    });
  } catch {
    return [];
  }
}

export function realDirectory(path: string): string | undefined {
  try {
    const real = nameFromBytes(fs.realpathSync.native(osPath(path), { encoding: 'buffer' }));
    return fs.statSync(osPath(real)).isDirectory() ? real : undefined;
  } catch {
    return undefined;
  }
}
