import * as fs from 'node:fs';
import { namesIfReadable } from '../filesystem/directory-names.ts';

/** Which of the given files (absolute paths) a process has open, as far as we may see. */
export function openFiles(wanted: ReadonlySet<string>): ReadonlySet<string> {
  const found = new Set<string>();
  for (const pid of namesIfReadable('/proc').filter(name => /^\d+$/.test(name))) {
    for (const fd of namesIfReadable(`/proc/${pid}/fd`)) {
      const target = linkOf(`/proc/${pid}/fd/${fd}`);
      if (target !== undefined && wanted.has(target)) found.add(target);
    }
  }
  return found;
}

function linkOf(path: string): string | undefined {
  try {
    return fs.readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** The inodes of files locked by any process of any user. */
export function lockedInodes(): readonly bigint[] {
  try {
    const lines = fs.readFileSync('/proc/locks', 'utf8').split('\n');
    return lines.flatMap(line => {
      const inode = / [0-9a-f]+:[0-9a-f]+:(\d+) /.exec(line)?.[1];
      return inode === undefined ? [] : [BigInt(inode)];
    });
  } catch {
    return [];
  }
}
