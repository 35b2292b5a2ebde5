import { type Attributes, attributesOf, sameNode, type TreeNode } from './tree.ts';

/**
 * Which owners we can restore. Only root can give files away: an entry of another user, or of a group that we are not in, is
 * restored as ours. That is reported, and the restored entry counts as the original.
 */
export interface Ownership {
  /** Whether we can create an entry with this owner and group. */
  canGive(attributes: Attributes): boolean;
}

export function ownershipHere(): Ownership {
  const own = process.geteuid?.();
  if (own === undefined || own === 0) return { canGive: () => true };
  const groups = new Set([process.getegid?.(), ...(process.getgroups?.() ?? [])]);
  return { canGive: ({ uid, gid }) => uid === own && groups.has(gid) };
}

/** Names what could not be restored about a path. */
export function ownerLost(path: string): string {
  return `${path === '' ? '.' : path} (its owner or group)`;
}

/** Whether an entry is the original, or the closest to it that we could restore. */
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

/** Whether attributes are the wanted ones, or ours in their place. A group that is not ours loses its set-gid bit too. */
export function attributesGiven(now: Attributes, wanted: Attributes, { canGive }: Ownership): boolean {
  if (now.uid === wanted.uid && now.gid === wanted.gid && now.mode === wanted.mode) return true;
  return !canGive(wanted) && canGive(now) && (now.mode | SET_GROUP) === (wanted.mode | SET_GROUP);
}
