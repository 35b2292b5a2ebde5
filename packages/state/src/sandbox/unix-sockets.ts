import * as fs from 'node:fs';

/**
 * Listening sockets on this machine that have a path in the filesystem. A network namespace does not prevent connections to
 * them, and the service behind one may do anything it is asked to.
 */
export function listeningSockets(): readonly string[] {
  let table: string;
  try {
    table = fs.readFileSync('/proc/net/unix', 'utf8');
  } catch {
    return [];
  }
  const paths = table.split('\n').flatMap(line => {
    // Num RefCount Protocol Flags Type St Inode Path
    const path = /^\S+ \S+ \S+ \S+ \S+ \S+ +\S+ (\/.*)$/.exec(line)?.[1];
    return path === undefined ? [] : [path];
  });
  return [...new Set(paths.flatMap(realSocket))];
}

function realSocket(path: string): readonly string[] {
  try {
    return fs.statSync(path).isSocket() ? [fs.realpathSync(path)] : [];
  } catch {
    return [];
  }
}
