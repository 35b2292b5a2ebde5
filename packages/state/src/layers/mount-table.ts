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
