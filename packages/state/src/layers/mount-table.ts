import * as fs from 'node:fs';
import { isWithin } from '../filesystem/path-locks.ts';

/** The mount points of this process, in mount order. Empty if the system has no mount table. */
export function mountPoints(table = mountTable()): readonly string[] {
  return table.split('\n').flatMap(line => {
    // id parent major:minor root mount-point options …
    const point = line.split(' ')[4];
    return point === undefined ? [] : [unescaped(point)];
  });
}

/** The mount point that holds a path: absolute, with links resolved. */
export function mountPointOf(path: string, points: readonly string[]): string {
  return points.filter(point => isWithin(path, point)).reduce((a, b) => (b.length > a.length ? b : a), '/');
}

/** The mount points inside a directory, excluding the directory itself. */
export function mountsInside(directory: string, points = mountPoints()): readonly string[] {
  return points.filter(point => point !== directory && isWithin(point, directory));
}

/** The changes on filesystems that are mounted at the given paths, and those that would move such a path with the directory around it. */
export function atMounts<T extends { readonly path: string }>(
  changes: readonly T[],
  mounts: readonly string[],
): readonly T[] {
  return changes.filter(({ path }) =>
    mounts.some(mount => isWithin(path, mount) || (path !== '' && isWithin(mount, path))),
  );
}

/** A mount inside a directory of what the kernel shows about itself: its files are endless, or act when they are read. */
export function kernelMountInside(directory: string, table = mountTable()): string | undefined {
  const lines = table.split('\n').filter(line => KERNEL.test(line));
  return mountsInside(directory, mountPoints(lines.join('\n')))[0];
}

const KERNEL =
  / - (?:proc|sysfs|devtmpfs|devpts|cgroup2?|debugfs|tracefs|securityfs|bpf|configfs|mqueue|pstore|autofs) /;

/** The kernel's mount table; empty if there is none. */
export function mountTable(): string {
  try {
    return fs.readFileSync('/proc/self/mountinfo', 'utf8');
  } catch {
    return '';
  }
}

/** The kernel escapes spaces, tabs, newlines and backslashes as octal numbers. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
