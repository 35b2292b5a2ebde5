import { createHash } from 'node:crypto';
import { exists } from './restore-steps.ts';

/** The same for the same call, so that whoever finishes a restore finds what was staged. */
export function stagingName(id: string): string {
  return `.signalbox-restore-${createHash('sha256').update(id).digest('hex').slice(0, 16)}`;
}

/** The names that a restore uses beside its staging directory's own. */
export function namesOf(staging: string): readonly string[] {
  return [preparedName(staging), staging, closedName(staging)];
}

/** A name for the staging directory under which nobody else has anything. */
export function freeStaging(root: string, id: string, ours: ReadonlySet<string>): string {
  const usual = stagingName(id);
  for (let number = 1; ; number++) {
    const name = number === 1 ? usual : `${usual}-${number}`;
    if (namesOf(name).every(one => ours.has(one) || !isTaken(`${root}/${one}`))) return name;
  }
}

function isTaken(path: string): boolean {
  try {
    return exists(path);
  } catch {
    // A root that is closed to us is opened later; nobody else has put anything there under our names.
    return false;
  }
}

/** The staging directory after the last step. */
export function closedName(staging: string): string {
  return `${staging}-done`;
}

/** The staging directory before the first step. Once it has its own name, everything in it is durable. */
export function preparedName(staging: string): string {
  return `${staging}-new`;
}
