import { createHash } from 'node:crypto';
import { exists } from './restore-steps.ts';

/** Stable per call, so that the process that finishes a restore finds the staged entries. */
export function stagingName(id: string): string {
  return `.signalbox-restore-${createHash('sha256').update(id).digest('hex').slice(0, 16)}`;
}

/** The other names that a restore uses next to its staging directory. */
export function namesOf(staging: string): readonly string[] {
  return [preparedName(staging), staging, closedName(staging)];
}

/** A free name for the staging directory. */
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
    // A root that is closed to us is opened later; nobody else has used our names there.
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
