import * as fs from 'node:fs';
import { isTooDeep } from './deep-paths.ts';
import { nameFromBytes, osPath } from './path-name.ts';
import { type DirectoryNode, joined } from './tree.ts';

/** Kernels stamp changes with a clock that lags behind the readable one by a tick. */
const TICK_MS = 20;

/**
 * The opaque directories of a tree that were changed, emptied or removed since an instant. Nothing is recorded about them
 * beforehand: a change leaves its time on the entry, and a removal on the parent directory.
 */
export function changedOpaque(
  root: string,
  tree: DirectoryNode,
  since: number,
  isForbidden: (stat: fs.Stats) => boolean,
): readonly string[] {
  const found: string[] = [];
  const walk = (directory: DirectoryNode, at: string) => {
    for (const [name, node] of directory.entries) {
      const path = joined(at, name);
      if (node.kind === 'directory') walk(node, path);
      else if (node.kind === 'opaque' && isChanged(`${root}/${path}`, since - TICK_MS, isForbidden)) found.push(path);
    }
  };
  walk(tree, '');
  return found;
}

/** Whether anything at or below a path changed after an instant. */
export function changedAfter(path: string, instant: number): boolean {
  const stat = lookAt(path);
  if (stat === 'unseen' || stat === undefined) return false;
  if (stat.ctimeMs > instant) return true;
  return (
    stat.isDirectory() &&
    !isTooDeep(path) &&
    namesIn(path).some(name => changedAfter(`${path}/${nameFromBytes(name)}`, instant))
  );
}

function isChanged(path: string, since: number, isForbidden: (stat: fs.Stats) => boolean): boolean {
  const stat = lookAt(path);
  if (stat === 'unseen' || (stat !== undefined && isForbidden(stat))) return false;
  if (stat === undefined || stat.ctimeMs >= since) return true;
  if (!stat.isDirectory() || isTooDeep(path)) return false;
  return namesIn(path).some(name => isChanged(`${path}/${nameFromBytes(name)}`, since, isForbidden));
}

/** We could not have changed an entry that we may not inspect. */
function lookAt(path: string): fs.Stats | undefined | 'unseen' {
  try {
    return fs.lstatSync(osPath(path), { throwIfNoEntry: false });
  } catch {
    return 'unseen';
  }
}

/** We could not have changed an entry that we cannot read. */
function namesIn(path: string): readonly Uint8Array[] {
  try {
    return fs.readdirSync(osPath(path), { encoding: 'buffer' });
  } catch {
    return [];
  }
}
