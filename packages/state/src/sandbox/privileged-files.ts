import * as fs from 'node:fs';
import { checkDepth } from '../filesystem/deep-paths.ts';
import { type ForbiddenPlaces, forbiddenPlaces } from '../filesystem/forbidden-places.ts';
import { nameFromBytes, osPath } from '../filesystem/path-name.ts';

/** Set-uid and set-gid: whoever runs such a file becomes its owner or its group. */
const SET_ID = 0o6000;
/** How far the clock of a filesystem may be behind ours. */
const CLOCK_MS = 1000;

/** Whether a file lends its owner's or group's rights. On directories the bit says who owns what is made in them. */
export function isPrivileged(stat: Pick<fs.BigIntStats | fs.Stats, 'mode' | 'isFile'>): boolean {
  return stat.isFile() && (Number(stat.mode) & SET_ID) !== 0;
}

/** Takes set-uid and set-gid from a file. */
export function dropPrivilege(path: string, mode: bigint | number): void {
  fs.chmodSync(osPath(path), Number(mode) & 0o7777 & ~SET_ID);
}

/**
 * Takes them from every file below a directory that was changed since a moment, in milliseconds. What is refused is not looked
 * into. Throws where a directory is nested too deeply to be looked into.
 */
export function dropPrivileges(directory: string, since: number, refused: readonly string[]): void {
  dropIn(directory, since, forbiddenPlaces(refused));
}

function dropIn(directory: string, since: number, refused: ForbiddenPlaces): void {
  for (const name of namesIn(directory)) {
    const path = `${directory}/${name}`;
    const stat = fs.lstatSync(osPath(path), { throwIfNoEntry: false });
    if (stat === undefined || refused.has(stat)) continue;
    if (stat.isDirectory()) {
      checkDepth(path);
      dropIn(path, since, refused);
    } else if (isPrivileged(stat) && stat.ctimeMs >= since - CLOCK_MS) {
      try {
        dropPrivilege(path, stat.mode);
      } catch {
        // Another user's: the command could not have set it.
      }
    }
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return fs.readdirSync(osPath(directory), { encoding: 'buffer' }).map(nameFromBytes);
  } catch {
    return [];
  }
}
