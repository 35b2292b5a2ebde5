import * as fs from 'node:fs';
import type { HostFiles } from './host-files.ts';
import { mayAccess } from './host-scan.ts';
import { type Ownership, ownershipHere } from './ownership.ts';
import { osPath } from './path-name.ts';
import { type Attributes, type DirectoryNode, joined, nodeAt, type TreeNode, withNode } from './tree.ts';

/**
 * Our own directories and files that a call closed to us (`chmod 000`). They are opened during a restore, so that their
 * contents are seen, and nothing unseen is ever discarded.
 *
 * 1. Only entries that are ours and were not closed before the call are opened.
 * 2. Pictures show the mode that a path had before it was opened.
 */
export interface OpenedPaths {
  /** The mode that each opened path had, outermost first. */
  readonly modes: ReadonlyMap<string, number>;
  /** When each opened path was last changed by somebody other than us. */
  readonly changedAt: ReadonlyMap<string, number>;
  /** Closes them again. */
  close(): void;
}

const OPEN_DIRECTORY = 0o700;
const OPEN_FILE = 0o400;

/** Scans with `scan` until nothing more can be opened, and returns the last picture. */
export async function openClosedPaths(
  { files, root, target }: { readonly files: HostFiles; readonly root: string; readonly target: DirectoryNode },
  scan: () => Promise<DirectoryNode>,
): Promise<{ readonly now: DirectoryNode; readonly opened: OpenedPaths }> {
  const modes = new Map<string, number>();
  const changedAt = new Map<string, number>();
  const at = (path: string) => (path === '' ? root : `${root}/${path}`);
  const opened: OpenedPaths = {
    modes,
    changedAt,
    close() {
      for (const [path, mode] of [...modes].toReversed()) {
        try {
          files.chmod(at(path), mode);
        } catch {
          // It is gone, or belongs to somebody else now.
        }
      }
    },
  };
  const open = (path: string, { mode, uid }: Attributes, bits: number) => {
    if (modes.has(path) || uid !== process.geteuid?.() || (mode & bits) === bits) return false;
    changedAt.set(path, fs.lstatSync(osPath(at(path))).ctimeMs);
    files.chmod(at(path), mode | bits);
    modes.set(path, mode);
    return true;
  };
  try {
    const { mode, uid, gid } = fs.lstatSync(osPath(root));
    if (process.geteuid?.() !== 0) open('', { mode: mode & 0o7777, uid, gid }, OPEN_DIRECTORY);
    for (;;) {
      const now = await scan();
      const closed = closedPaths(now, target).filter(({ path, attributes, bits }) => open(path, attributes, bits));
      if (closed.length === 0) return { now: withModes(now, modes), opened };
    }
  } catch (cause) {
    opened.close();
    throw cause;
  }
}

/** The picture with the original modes of opened paths. */
export function withModes(tree: DirectoryNode, modes: ReadonlyMap<string, number>): DirectoryNode {
  let shown = tree;
  for (const [path, mode] of modes) {
    const parts = path === '' ? [] : path.split('/');
    const node = nodeAt(shown, parts);
    if (node?.kind === 'directory' || node?.kind === 'file') shown = withNode(shown, parts, { ...node, mode });
  }
  return shown;
}

/** What a process may do to paths of a tree. Root may do everything. */
export interface Reach extends Ownership {
  /** Whether the entries of a directory can be changed, and the directory be moved. */
  canChange(path: string, node: TreeNode): boolean;
  /** Whether the mode of something can be set. */
  owns(node: Attributes): boolean;
}

export function reachOf(root: string): Reach {
  const own = process.geteuid?.();
  const owners = ownershipHere();
  if (own === 0) return { canChange: () => true, owns: () => true, ...owners };
  const canChange = (path: string, node: TreeNode): boolean => {
    if (node.kind === 'special') return node.attributes === undefined;
    if (node.kind !== 'directory' && node.kind !== 'opaque') return true;
    const stat = fs.lstatSync(osPath(path === '' ? root : `${root}/${path}`), { throwIfNoEntry: false });
    if (stat === undefined) return true;
    // An entry of ours that is still closed could not be read, so it must not be removed.
    if (node.kind === 'opaque' && node.attributes !== undefined) return false;
    const { W_OK, X_OK } = fs.constants;
    return stat.uid === own || mayAccess(osPath(`${root}/${path}`), W_OK | X_OK);
  };
  return { canChange, owns: ({ uid }) => uid === own, ...owners };
}

interface Closed {
  readonly path: string;
  readonly attributes: Attributes;
  readonly bits: number;
}

function closedPaths(now: DirectoryNode, target: TreeNode | undefined, at = '', found: Closed[] = []): Closed[] {
  for (const [name, node] of now.entries) {
    const path = joined(at, name);
    const wanted = target?.kind === 'directory' ? target.entries.get(name) : undefined;
    if (node === wanted) continue;
    if (node.kind === 'directory') closedPaths(node, wanted, path, found);
    else if ((node.kind === 'opaque' || node.kind === 'special') && node.attributes !== undefined) {
      const wasClosed = wanted?.kind === node.kind && wanted.attributes !== undefined;
      const bits = node.kind === 'opaque' ? OPEN_DIRECTORY : OPEN_FILE;
      if (!wasClosed) found.push({ path, attributes: node.attributes, bits });
    }
  }
  return found;
}
