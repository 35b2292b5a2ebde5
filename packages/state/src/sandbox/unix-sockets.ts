import * as fs from 'node:fs';

/**
 * The sockets on this machine that somebody listens on and that have a place in the filesystem. A network namespace does
 * not keep anybody from connecting to them, and behind one of them may be a service that does anything it is told.
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
