import * as fs from 'node:fs';
import { checkDepth } from '../filesystem/deep-paths.ts';
import { namesIfReadable } from '../filesystem/directory-names.ts';
import { type ForbiddenPlaces, forbiddenPlaces } from '../filesystem/forbidden-places.ts';
import { osPath } from '../filesystem/path-name.ts';

/** Set-uid and set-gid: a user who runs the file gets its owner's or group's rights. */
const SET_ID = 0o6000;
/** How far a filesystem's clock may lag behind ours. */
const CLOCK_MS = 1000;

/** Whether a file grants its owner's or group's rights. On directories the bit only sets the group of new entries. */
export function isPrivileged(stat: Pick<fs.BigIntStats | fs.Stats, 'mode' | 'isFile'>): boolean {
  return stat.isFile() && (Number(stat.mode) & SET_ID) !== 0;
}

/** Removes set-uid and set-gid from a file. */
export function dropPrivilege(path: string, mode: bigint | number): void {
  fs.chmodSync(osPath(path), Number(mode) & 0o7777 & ~SET_ID);
}

/**
 * Removes them from every file below a directory that changed since an instant, in milliseconds. Refused paths are skipped.
 * Throws if a directory is nested too deeply to be read.
 */
export function dropPrivileges(directory: string, since: number, refused: readonly string[]): void {
  dropIn(directory, since, forbiddenPlaces(refused));
}

function dropIn(directory: string, since: number, refused: ForbiddenPlaces): void {
  for (const name of namesIfReadable(directory)) {
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
