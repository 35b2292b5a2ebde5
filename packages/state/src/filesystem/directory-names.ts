import * as fs from 'node:fs';
import { nameFromBytes, osPath } from './path-name.ts';

/** The names in a directory. Those that are not UTF-8 are as `nameFromBytes` writes them. */
export function namesIn(directory: string): readonly string[] {
  const names = fs.readdirSync(osPath(directory));
  if (!names.some(name => name.includes('\ufffd'))) return names;
  return fs.readdirSync(osPath(directory), { encoding: 'buffer' }).map(nameFromBytes);
}

/** The same; none if the directory cannot be read. */
export function namesIfReadable(directory: string): readonly string[] {
  try {
    return namesIn(directory);
  } catch {
    return [];
  }
}

/** Undefined if nothing is there, or the path leads through a file. */
export function statIfThere(path: string): fs.BigIntStats | undefined {
  try {
    return fs.lstatSync(osPath(path), { bigint: true, throwIfNoEntry: false });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw cause;
  }
}
