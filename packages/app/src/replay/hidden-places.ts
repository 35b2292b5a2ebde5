import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';

/** Where people have their files. */
const HOMES: readonly string[] = ['/home', '/root', '/Users', homedir()];

/**
 * Places that a confined program must not see: everything in people's homes, and the given places, except what it needs to run. A home that
 * holds some of that is hidden around it.
 */
export function hiddenPlaces(
  needed: readonly string[],
  more: readonly string[] = [],
  homes = HOMES,
): readonly string[] {
  const kept = needed.filter(one => existsSync(one)).map(one => realpathSync(one));
  const places = [...homes, ...more].filter(one => existsSync(one)).map(one => realpathSync(one));
  return [...new Set(places)].filter(one => one !== path.sep).flatMap(one => around(one, kept));
}

function around(place: string, kept: readonly string[]): readonly string[] {
  if (kept.some(one => isWithin(place, one))) return [];
  if (!kept.some(one => isWithin(one, place))) return [place];
  return readdirSync(place)
    .map(name => path.join(place, name))
    .filter(one => statSync(one, { throwIfNoEntry: false }) !== undefined)
    .flatMap(one => around(one, kept));
}

function isWithin(file: string, folder: string): boolean {
  return file === folder || file.startsWith(folder.endsWith(path.sep) ? folder : folder + path.sep);
}

/** The files of this program: Node, its own files, and the packages beside and above them. */
export function ownFiles(entry: string, node: string = process.execPath): readonly string[] {
  const packages: string[] = [];
  for (let at = path.dirname(entry); ; at = path.dirname(at)) {
    packages.push(path.join(at, 'node_modules'));
    if (at === path.dirname(at)) break;
  }
  const own = packageOf(entry);
  // Sources run from a workspace, whose packages lie beside each other.
  return [node, entry.endsWith('.ts') ? path.dirname(own) : own, ...packages.filter(one => existsSync(one))];
}

function packageOf(file: string): string {
  for (let at = path.dirname(file); at !== path.dirname(at); at = path.dirname(at)) {
    if (existsSync(path.join(at, 'package.json'))) return at;
  }
  return path.dirname(file);
}
