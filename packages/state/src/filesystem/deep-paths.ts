import { osPath, shownPath } from './path-name.ts';

/** Directories inside each other that are looked into: more than anybody has, and few enough to be walked by recursion. */
const MOST_DEEP = 256;
/** What the system takes as a path, less the name of an entry. */
const LONGEST = (process.platform === 'linux' ? 4096 : 1024) - 260;

/** A directory is nested so deeply, or its path is so long, that what is in it cannot be kept or brought back. */
export class TooDeepError extends Error {
  override readonly name = 'TooDeepError';

  constructor(full: string) {
    super(
      `${shownPath(full.slice(0, SHOWN))}… is nested too deeply (more than ${MOST_DEEP} directories, or a path of more than ${LONGEST} bytes)`,
    );
  }
}

const SHOWN = 80;

/** Whether a directory, by its absolute path, is nested too deeply to be looked into. */
export function isTooDeep(full: string): boolean {
  // A character is at most three bytes, and a part of a path at least two characters.
  if (full.length * 3 <= LONGEST && full.length <= MOST_DEEP * 2) return false;
  if (Buffer.byteLength(osPath(full)) > LONGEST) return true;
  let depth = 0;
  for (let at = full.indexOf('/'); at >= 0; at = full.indexOf('/', at + 1)) depth++;
  return depth > MOST_DEEP;
}

export function checkDepth(full: string): void {
  if (isTooDeep(full)) throw new TooDeepError(full);
}
