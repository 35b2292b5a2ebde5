import { statAt } from './host-path.ts';
import { type DirectoryNode, joined } from './tree.ts';

/**
 * The other paths under a root that name the same files as the given paths. A file written in place changes under all of its
 * names, so a call that declares one of them changes the others too. Searched only if a path has other names at all.
 */
export async function linkedPaths(
  root: string,
  paths: readonly (readonly string[])[],
  tree: () => Promise<DirectoryNode>,
): Promise<readonly string[]> {
  const declared = new Set(paths.map(parts => parts.join('/')));
  const inodes = new Set<number>();
  for (const path of declared) {
    const stat = statAt(`${root}/${path}`);
    if (stat?.isFile() && stat.nlink > 1) inodes.add(stat.ino);
  }
  if (inodes.size === 0) return [];
  const found: string[] = [];
  const walk = (directory: DirectoryNode, at: string) => {
    for (const [name, node] of directory.entries) {
      const path = joined(at, name);
      if (node.kind === 'directory') walk(node, path);
      else if (node.kind === 'file' && inodes.has(node.stamp?.ino ?? 0) && !declared.has(path)) found.push(path);
    }
  };
  walk(await tree(), '');
  return found;
}
