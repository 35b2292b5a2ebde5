import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { isWithin } from '../filesystem/path-locks.ts';
import { configInUse, isHarmless } from './git-config.ts';

/** Files below a root that the person's own configuration makes git run or read, such as those of `core.hooksPath = .husky`. */
export interface WatchedPlaces {
  /** Why git runs the file at a path; undefined if it doesn't. */
  runs(path: string): string | undefined;
  /** Configuration that is included from ordinary files. */
  readonly configs: ReadonlySet<string>;
}

interface Known {
  readonly stamp: string;
  readonly files: readonly string[];
  readonly places: WatchedPlaces;
}

const known = new Map<string, Known>();

/** Asked of git once, and again when a file that it was read from changed. */
export async function watchedPlaces(root: string): Promise<WatchedPlaces> {
  const before = known.get(root);
  if (before !== undefined && before.stamp === stampOf(before.files)) return before.places;
  const entries = await configInUse(root);
  const own = entries?.flatMap(({ file }) => (file === undefined ? [] : [path.resolve(root, file)])) ?? [];
  const files = [...new Set([...own, ...usualFiles(root)])];
  // What changes while git reads is found the next time.
  const next = { stamp: stampOf(files), files, places: placesOf(root, entries ?? [], own) };
  known.set(root, next);
  return next.places;
}

function placesOf(
  root: string,
  entries: NonNullable<Awaited<ReturnType<typeof configInUse>>>,
  files: readonly string[],
): WatchedPlaces {
  const programs = entries.flatMap(entry => {
    const word = isHarmless(entry) ? '' : wordOf(entry.value);
    // A program without a slash is looked up on the PATH.
    if (word === '' || (!word.includes('/') && entry.key !== 'core.hookspath')) return [];
    const file = path.resolve(root, word);
    const at = isWithin(file, root) && file !== root ? file.slice(root.length + 1) : '';
    if (at === '' || at.startsWith('.git/')) return [];
    // Husky's own directory has programs that run those next to it.
    const place = entry.key === 'core.hookspath' && path.basename(at) === '_' ? path.dirname(at) : at;
    return place === '.' ? [] : [{ place, reason: `git runs it: ${entry.key} = ${entry.value}` }];
  });
  const configs = files.flatMap(file => {
    const at = isWithin(file, root) ? file.slice(root.length + 1) : '';
    return at === '' || at.startsWith('.git/') ? [] : [at];
  });
  return {
    runs: at => programs.find(({ place }) => isWithin(at, place))?.reason,
    configs: new Set(configs),
  };
}

/** The program of a command line. */
function wordOf(value: string): string {
  const [, quoted, plain = ''] = /^!?\s*(?:["']([^"']+)["']|(\S+))/.exec(value) ?? [];
  return quoted ?? plain;
}

function usualFiles(root: string): readonly string[] {
  const home = process.env.HOME ?? os.homedir();
  const own = process.env.XDG_CONFIG_HOME ?? `${home}/.config`;
  return ['/etc/gitconfig', `${home}/.gitconfig`, `${own}/git/config`, `${root}/.git/config`, `${root}/.git`];
}

function stampOf(files: readonly string[]): string {
  return files
    .map(file => {
      try {
        const { ino, mtimeNs, size } = fs.statSync(file, { bigint: true });
        return file.endsWith('/.git') ? `${ino}` : `${ino} ${mtimeNs} ${size}`;
      } catch {
        return '';
      }
    })
    .join('\n');
}
