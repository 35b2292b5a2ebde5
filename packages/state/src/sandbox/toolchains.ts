import * as fs from 'node:fs';
import * as path from 'node:path';
import { isWithin } from '../filesystem/path-locks.ts';

/**
 * What programs on the PATH need to run: the installation that a PATH directory belongs to. Only directories outside the
 * system's own are considered.
 *
 * 1. `P/bin` exposes `P` if `P` looks like an installation, but never if `P` is a home, contains one, or is shared by many
 *    programs: a directory on the PATH does not expose its neighbours.
 * 2. Otherwise it exposes the directory itself and, for each link in it, the installation or file that it leads to.
 */
export function toolchainsOn(entries: readonly string[], homes: readonly string[]): readonly string[] {
  const isPrefix = (prefix: string) =>
    prefix !== '/' &&
    !homes.some(home => isWithin(home, prefix) || SHARED.some(name => prefix === `${home}/${name}`)) &&
    !fs.existsSync(`${prefix}/.git`) &&
    MARKS.some(name => fs.existsSync(`${prefix}/${name}`));
  const installationOf = (directory: string): string | undefined => {
    const parent = path.dirname(directory);
    if (path.basename(directory) === '.bin' && path.basename(parent) === 'node_modules') return parent;
    return PROGRAMS.includes(path.basename(directory)) && isPrefix(parent) ? parent : undefined;
  };
  const needs = (entry: string): readonly string[] => {
    const managed = homes.flatMap(home =>
      MANAGERS.filter(({ at }) => isWithin(entry, `${home}/${at}`)).flatMap(({ at, needs = [at] }) =>
        needs.map(name => `${home}/${name}`),
      ),
    );
    if (managed.length > 0) return managed;
    const installation = installationOf(entry);
    if (installation !== undefined) return [installation];
    if (homes.some(home => isWithin(home, entry))) return [];
    const targets = linksIn(entry).map(target => installationOf(path.dirname(target)) ?? target);
    return [entry, ...targets];
  };
  const found = entries.flatMap(needs).filter(one => fs.existsSync(one));
  return [...new Set(found.map(one => fs.realpathSync(one)))];
}

/** The directories of a PATH, links resolved; relative and missing ones are skipped. */
export function pathEntries(value: string): readonly string[] {
  const entries = value.split(':').flatMap(entry => {
    try {
      return path.isAbsolute(entry) ? [fs.realpathSync(entry)] : [];
    } catch {
      return [];
    }
  });
  return [...new Set(entries)];
}

const PROGRAMS = ['bin', 'sbin'];
/** Siblings of `bin` that mark an installation. */
const MARKS = ['lib', 'lib64', 'libexec', 'conda-meta'];
/** Directories of a home that many programs share, with their settings and data. */
const SHARED = ['.local', '.config', '.cache', '.local/share', '.cargo', 'go', 'Library'];

/** Version managers under a home, and what their programs need. */
const MANAGERS: readonly { readonly at: string; readonly needs?: readonly string[] }[] = [
  { at: '.cargo/bin', needs: ['.cargo/bin', '.rustup/toolchains', '.rustup/settings.toml'] },
  { at: '.pyenv' },
  { at: '.rbenv' },
  { at: '.nodenv' },
  { at: '.goenv' },
  { at: '.volta' },
  { at: '.asdf' },
  { at: '.local/share/mise' },
  { at: '.sdkman/candidates' },
  { at: '.ghcup' },
  { at: '.opam' },
  { at: '.juliaup' },
  { at: '.dotnet' },
  { at: '.elan' },
  { at: '.bun', needs: ['.bun/bin', '.bun/install/global'] },
  { at: '.local/share/pnpm' },
  { at: 'go/bin' },
];

const MAX_LINKS = 500;

/** Targets of a directory's links outside of it. */
function linksIn(directory: string): readonly string[] {
  try {
    const links = fs.readdirSync(directory, { withFileTypes: true }).filter(entry => entry.isSymbolicLink());
    return links.slice(0, MAX_LINKS).flatMap(({ name }) => {
      const target = realFile(`${directory}/${name}`);
      return target === undefined || isWithin(target, directory) ? [] : [target];
    });
  } catch {
    return [];
  }
}

function realFile(link: string): string | undefined {
  try {
    return fs.statSync(link).isFile() ? fs.realpathSync(link) : undefined;
  } catch {
    return undefined;
  }
}
