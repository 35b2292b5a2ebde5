import { spawnSync } from 'node:child_process';
import { accessSync, chmodSync, constants, mkdirSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import path from 'node:path';
import type { TestProject } from 'vitest/node';

const MEMORY = '/dev/shm';
const NAME = 'signalbox-tests-';
const NEEDED_BYTES = 2 * 2 ** 30;

/**
 * Returns the variables that make the tests of this run keep temporary files in memory. Returns none if this machine lacks the
 * room, and for a soak or a full run, which keep everything on the disk.
 */
export function temporaryFilesInMemory(): { readonly TMPDIR?: string } {
  if (process.env.SIGNALBOX_SOAK === '1' || process.env.SIGNALBOX_FULL === '1') return {};
  try {
    accessSync(MEMORY, constants.R_OK | constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > NEEDED_BYTES ? { TMPDIR: path.join(MEMORY, `${NAME}${process.pid}`) } : {};
  } catch {
    return {};
  }
}

/** Makes the directory of a project, and returns the function that removes it. Also removes directories of runs that were killed. */
export default function setup({ config }: TestProject): () => void {
  const { TMPDIR } = config.env as { readonly TMPDIR?: string };
  if (TMPDIR === undefined) return () => {};
  for (const name of readdirSync(MEMORY)) if (name.startsWith(NAME)) removeIfLeft(name);
  mkdirSync(TMPDIR, { recursive: true });
  // Some tests run programs as another user. Like /tmp, the directory is everybody's, and each file its owner's.
  chmodSync(TMPDIR, 0o1777);
  return () => removeAll(TMPDIR);
}

/** Also removes directories that their own owner may not enter, such as those of a kernel's overlay. */
function removeAll(directory: string): void {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch {
    spawnSync('chmod', ['-R', 'u+rwX', directory]);
    rmSync(directory, { recursive: true, force: true });
  }
}

function removeIfLeft(name: string): void {
  try {
    process.kill(Number(name.slice(NAME.length)), 0);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ESRCH') return;
    try {
      removeAll(path.join(MEMORY, name));
    } catch {
      // It is another user's.
    }
  }
}
