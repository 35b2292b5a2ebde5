import { timestamp } from '@signalbox/model';
import * as z from 'zod';
import { type CallChanges, joinedChanges, type Leaf, pair, sameLeaf } from '../checkpoints/call-changes.ts';
import { parentOf } from '../filesystem/closed-paths.ts';
import { isWithin } from '../filesystem/path-locks.ts';
import type { DirectoryNode, TreeNode } from '../filesystem/tree.ts';

/** A call that the program of a call on a layer makes by itself, such as an agent's own tool call. */
export const innerCall = z.strictObject({
  id: z.string().min(1),
  tool: z.string(),
  outcome: z.enum(['succeeded', 'failed']),
  summary: z.string().nullable(),
  elapsedMs: z.number(),
  at: timestamp,
});
export type InnerCall = Readonly<z.infer<typeof innerCall>>;

/** Changes on a layer between two moments: of one inner call or, without `call`, of nobody that can be named. */
export interface Stretch {
  readonly call?: InnerCall | undefined;
  readonly changes: CallChanges;
}

/** The changes from one picture of a layer to another. Both contain all differences between the layer and its root. */
export function changesSince(
  earlier: CallChanges,
  later: CallChanges,
  isLeftOut: (path: string) => boolean,
): CallChanges {
  const found = new Map<string, { before?: Leaf; after?: Leaf }>();
  for (const path of new Set([...earlier.keys(), ...later.keys()])) {
    if (isLeftOut(path)) continue;
    const [own, other] = [earlier.get(path), later.get(path)];
    const before = own === undefined ? other?.before : own.after;
    const after = other === undefined ? own?.before : other.after;
    if (!sameLeaf(before, after)) found.set(path, pair(before, after));
  }
  return found;
}

/**
 * The changes of a call in the order in which they were made, so that together they are exactly what was applied.
 *
 * 1. A path that was applied differently than it was written, or not at all, is in no inner call: somebody else changed it too.
 * 2. Changes that no stretch explains come last, without a call.
 * 3. At most `kept` stretches have calls, the latest ones. Undefined if none has.
 */
export function appliedStretches(
  stretches: readonly Stretch[],
  applied: CallChanges,
  { disputed, kept }: { readonly disputed: readonly string[]; readonly kept: number },
): readonly Stretch[] | undefined {
  const written = joinedChanges(stretches.map(({ changes }) => changes)).changes;
  const isOwn = (path: string) =>
    (!written.has(path) || (applied.has(path) && sameLeaf(applied.get(path)?.before, written.get(path)?.before))) &&
    !disputed.some(one => isWithin(path, one) || isWithin(one, path));
  const own = stretches.flatMap(({ call, changes }) => {
    const left = new Map([...changes].filter(([path]) => isOwn(path)));
    return left.size === 0 ? [] : [{ ...(call && { call }), changes: left }];
  });
  const named = own.filter(({ call }) => call !== undefined);
  if (named.length === 0) return undefined;
  const nameless = new Set(named.slice(0, -kept));
  const explained = joinedChanges(own.map(({ changes }) => changes)).changes;
  const rest = changesSince(explained, applied, () => false);
  return [
    ...own.map(one => (nameless.has(one) ? { changes: one.changes } : one)),
    ...(rest.size === 0 ? [] : [{ changes: rest }]),
  ];
}

/** Changes as pictures of their paths before and after. Directories around them are the same in both. */
export function treesOf(changes: CallChanges): { readonly before: DirectoryNode; readonly after: DirectoryNode } {
  return { before: sideOf(changes, 'before'), after: sideOf(changes, 'after') };
}

function sideOf(changes: CallChanges, side: 'before' | 'after'): DirectoryNode {
  const leafAt = (path: string): Leaf | undefined => (changes.has(path) ? changes.get(path)?.[side] : AROUND);
  const top = leafAt('');
  const known = new Map<string, Map<string, TreeNode> | undefined>([['', new Map()]]);
  /** The entries of a directory; undefined if nothing is there, or something else. */
  const inside = (path: string): Map<string, TreeNode> | undefined => {
    if (known.has(path)) return known.get(path);
    const around = inside(parentOf(path));
    const leaf = leafAt(path);
    const entries = around === undefined || leaf?.kind !== 'directory' ? undefined : new Map<string, TreeNode>();
    if (entries !== undefined && leaf?.kind === 'directory')
      around?.set(nameIn(path), { ...leaf, entries, partial: true });
    known.set(path, entries);
    return entries;
  };
  for (const [path, { [side]: leaf }] of changes) {
    if (path === '') continue;
    // A directory around a new entry is there on both sides.
    const around = inside(parentOf(path));
    if (leaf?.kind === 'directory') inside(path);
    else if (leaf !== undefined) around?.set(nameIn(path), leaf);
  }
  return { ...(top?.kind === 'directory' ? top : AROUND), entries: inside('') ?? new Map(), partial: true };
}

function nameIn(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Stands for a directory that is not among the changes. */
const AROUND = { kind: 'directory', mode: 0o755, uid: 0, gid: 0 } as const;
