import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { setTimeout } from 'node:timers/promises';

/**
 * An instant on the clock of a directory's filesystem, in nanoseconds: later than the stamp of every change made before the
 * call, and not later than that of any change made after it returned.
 *
 * An unnamed file provides the time, so that the directory does not visibly change. Many clocks move in ticks of some
 * milliseconds, so it waits for the next tick.
 */
async function instantOn(directory: string): Promise<bigint> {
  const file = openedIn(directory);
  try {
    const first = fs.fstatSync(file, { bigint: true }).ctimeNs;
    for (;;) {
      fs.fchmodSync(file, 0o600);
      const now = fs.fstatSync(file, { bigint: true }).ctimeNs;
      if (now > first) return now;
      await setTimeout(1);
    }
  } finally {
    fs.closeSync(file);
  }
}

function openedIn(directory: string): number {
  if (process.platform === 'linux')
    return fs.openSync(directory, UNNAMED | fs.constants.O_DIRECTORY | fs.constants.O_RDWR, 0o600);
  // Elsewhere a file has a name for a moment.
  const name = `${directory}/.instant-${randomUUID()}`;
  const file = fs.openSync(name, 'wx', 0o600);
  fs.rmSync(name);
  return file;
}

/** Linux's `__O_TMPFILE`, which Node does not define. */
const UNNAMED = 0o20000000;

/** The same for a root, measured in our own directory if it is on the same filesystem: a root may not be writable. */
export function instantNear(root: string, own: string): Promise<bigint> {
  const isNear = fs.lstatSync(own, { bigint: true }).dev === fs.lstatSync(root, { bigint: true }).dev;
  return instantOn(isNear ? own : root);
}
