import { type Attributes, attributesOf, sameNode, type TreeNode } from './tree.ts';

/**
 * Whose files we can make. Only root gives files away: what belongs to somebody else, or to a group that we are not in, comes back
 * as ours. That is said, and what came back so counts as what it was.
 */
export interface Ownership {
  /** Whether something that we make can have this owner and group. */
  canGive(attributes: Attributes): boolean;
}

export function ownershipHere(): Ownership {
  const own = process.geteuid?.();
  if (own === undefined || own === 0) return { canGive: () => true };
  const groups = new Set([process.getegid?.(), ...(process.getgroups?.() ?? [])]);
  return { canGive: ({ uid, gid }) => uid === own && groups.has(gid) };
}

/** How what is not brought back about a path is called. */
export function ownerLost(path: string): string {
  return `${path === '' ? '.' : path} (its owner or group)`;
}

/** Whether something is what was there, or what of it we could bring back. */
export function sameAsGiven(now: TreeNode | undefined, wanted: TreeNode | undefined, owners: Ownership): boolean {
  if (sameNode(now, wanted)) return true;
  if (now?.kind === 'directory' && wanted?.kind === 'directory') {
    if (now.entries.size !== wanted.entries.size || !attributesGiven(now, wanted, owners)) return false;
    return [...now.entries].every(([name, node]) => sameAsGiven(node, wanted.entries.get(name), owners));
  }
  if (now?.kind !== 'file' || wanted?.kind !== 'file' || !attributesGiven(now, wanted, owners)) return false;
  return sameNode(now, { ...wanted, ...attributesOf(now) });
}

const SET_GROUP = 0o2000;

/** Whether attributes are those that were wanted, or ours in their place. A group that is not ours takes its bit with it. */
export function attributesGiven(now: Attributes, wanted: Attributes, { canGive }: Ownership): boolean {
  if (now.uid === wanted.uid && now.gid === wanted.gid && now.mode === wanted.mode) return true;
  return !canGive(wanted) && canGive(now) && (now.mode | SET_GROUP) === (wanted.mode | SET_GROUP);
}
