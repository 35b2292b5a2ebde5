import { readFileSync } from 'node:fs';
import path from 'node:path';

/** One package in `package-lock.json`. */
export interface LockedPackage {
  readonly name: string;
  readonly version: string;
  /** Where it is installed, from the root of the repository. */
  readonly place: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  /** Only for some platforms: a program or an addon that was compiled ahead. */
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  /** Installed where the platform has it. */
  readonly optional?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** Packages by where they are installed; ours also by their folder. */
export type Lock = ReadonlyMap<string, LockedPackage>;

export function readLock(root: string): Lock {
  const { packages } = JSON.parse(readFileSync(path.join(root, 'package-lock.json'), 'utf8'));
  return lockOf(packages);
}

type Entry = Partial<LockedPackage> & { readonly link?: boolean; readonly resolved?: string };

/** `packages` as it is in the file. Links lead to packages of the workspace. */
export function lockOf(packages: Readonly<Record<string, Entry>>): Lock {
  const lock = new Map<string, LockedPackage>();
  for (const [at, { link, resolved: target = '' }] of Object.entries(packages)) {
    const place = link === true ? target : at;
    const { version = '0.0.0', ...entry } = packages[place] ?? {};
    lock.set(at, { ...entry, version, place, name: entry.name ?? nameOf(place) });
  }
  return lock;
}

/** Everything that others wrote. */
export function foreignPackages(lock: Lock): readonly LockedPackage[] {
  return [...lock.values()].filter(({ place }) => place.includes('node_modules/'));
}

/** The dependencies of a package, and theirs. `from` is its folder. */
export function installedWith(lock: Lock, from: string): ReadonlySet<LockedPackage> {
  const found = new Set<LockedPackage>();
  const visit = (place: string) => {
    for (const needed of neededBy(lock, place)) {
      if (found.has(needed)) continue;
      found.add(needed);
      visit(needed.place);
    }
  };
  visit(from);
  return found;
}

/** The packages that a package asks for and gets. */
export function neededBy(lock: Lock, place: string): readonly LockedPackage[] {
  const { dependencies, optionalDependencies, peerDependencies } = lock.get(place) ?? {};
  const names = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
  return names.flatMap(name => resolved(lock, place, name) ?? []);
}

/** The package that a folder of another, or a module of it, gets by a name: the nearest one. */
function resolved(lock: Lock, from: string, name: string): LockedPackage | undefined {
  for (let folder = from; ; folder = path.posix.dirname(folder)) {
    const base = folder === '.' ? '' : `${folder}/`;
    const found = lock.get(`${base}node_modules/${name}`);
    if (found !== undefined || base === '') return found;
  }
}

/** The package that a file belongs to. */
export function packageOf(lock: Lock, file: string): LockedPackage | undefined {
  const [place] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file.replaceAll('\\', '/')) ?? [];
  return place === undefined ? undefined : lock.get(place);
}

function nameOf(place: string): string {
  return place.split('node_modules/').at(-1) ?? place;
}
