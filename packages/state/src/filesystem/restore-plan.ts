import * as z from 'zod';
import { eachDirectory } from './restore-merge.ts';
import {
  type Attributes,
  attributesOf,
  type DirectoryNode,
  type FileNode,
  joined,
  type LinkNode,
  nodeAt,
  sameAttributes,
  sameContent,
  sameNode,
  type TreeNode,
} from './tree.ts';

/**
 * The steps that turn one tree into another, in an order in which each can be done and, from the last one back, undone.
 * Replaced entries are moved into a staging directory, and new ones come from there: a step is a rename, a `mkdir` or a mode
 * change, and needs no space.
 */
export const attributes = z.strictObject({ mode: z.int(), uid: z.int(), gid: z.int() });
export const restoreStep = z.discriminatedUnion('op', [
  /** Moves the entry at a path into the staging directory. */
  z.strictObject({ op: z.literal('aside'), path: z.string(), as: z.int() }),
  z.strictObject({ op: z.literal('mkdir'), path: z.string() }),
  /** Moves an entry out of the staging directory. `staged`: it was put there beforehand, not by an earlier step. */
  z.strictObject({ op: z.literal('place'), path: z.string(), from: z.int(), staged: z.boolean() }),
  z.strictObject({ op: z.literal('attributes'), path: z.string(), set: attributes, was: attributes }),
]);
export type RestoreStep = z.infer<typeof restoreStep>;

export interface RestorePlan {
  readonly steps: readonly RestoreStep[];
  /** Entries to stage before the first step, by number. */
  readonly staged: ReadonlyMap<number, FileNode | LinkNode>;
  /** What each `aside` expects to find. */
  readonly expected: ReadonlyMap<string, TreeNode>;
  /** The first of the last steps, which only set modes and owners. */
  readonly finals: number;
}

/** `opened`: paths that are open although the picture shows their original mode. */
export function planRestore(
  now: DirectoryNode,
  desired: DirectoryNode,
  opened: ReadonlyMap<string, number> = new Map(),
): RestorePlan {
  const opening: RestoreStep[] = [];
  const rescued: RestoreStep[] = [];
  const asides: RestoreStep[] = [];
  const builds: RestoreStep[] = [];
  const finals: RestoreStep[] = [];
  const staged = new Map<number, FileNode | LinkNode>();
  const expected = new Map<string, TreeNode>();
  const moved = new Map<string, number>();
  let next = 0;

  /** Opaque directories that belong elsewhere are moved before their parent is. */
  const rescue = () => {
    const wanted = newOpaque(now, desired);
    if (wanted.size === 0) return;
    eachDirectory(now, '', (identity, path) => {
      const place = wanted.get(identity);
      if (place === undefined || place === path) return;
      moved.set(identity, next);
      rescued.push({ op: 'aside', path, as: next++ });
    });
  };

  const aside = (node: TreeNode, path: string) => {
    if ((node.kind === 'opaque' || node.kind === 'directory') && moved.has(node.identity ?? '')) return;
    expected.set(path, node);
    // A directory that moves to another one must itself be writable.
    if (node.kind === 'directory' && (node.mode & 0o200) === 0) {
      opening.push(openStep(node, path));
    }
    asides.push({ op: 'aside', path, as: next++ });
  };

  const build = (node: TreeNode, path: string) => {
    switch (node.kind) {
      case 'file':
      case 'link':
        staged.set(next, node);
        builds.push({ op: 'place', path, from: next++, staged: true });
        return;
      case 'opaque': {
        const from = moved.get(node.identity);
        if (from !== undefined) builds.push({ op: 'place', path, from, staged: false });
        return;
      }
      case 'directory':
        builds.push({ op: 'mkdir', path });
        for (const [name, child] of node.entries) build(child, joined(path, name));
        finals.push({ op: 'attributes', path, set: attributesOf(node), was: attributesOf(node) });
        return;
      case 'special':
        return;
    }
  };

  const walk = (from: DirectoryNode, to: DirectoryNode, path: string) => {
    if (from === to) return;
    let touched = false;
    for (const name of new Set([...from.entries.keys(), ...to.entries.keys()])) {
      const a = from.entries.get(name);
      const b = to.entries.get(name);
      const at = joined(path, name);
      if (sameNode(a, b)) continue;
      if (a?.kind === 'directory' && b?.kind === 'directory') walk(a, b, at);
      else if (a?.kind === 'file' && b?.kind === 'file' && sameContent(a, b)) {
        finals.push({ op: 'attributes', path: at, set: attributesOf(b), was: attributesOf(a) });
      } else if (a?.kind === 'opaque' && b?.kind === 'opaque' && a.identity === b.identity) {
        if (a.attributes && b.attributes) {
          finals.push({ op: 'attributes', path: at, set: b.attributes, was: a.attributes });
        }
      } else {
        touched = true;
        if (a !== undefined) aside(a, at);
        if (b !== undefined) build(b, at);
      }
    }
    const locked = opened.has(path) || (touched && (from.mode & 0o300) !== 0o300);
    const step = openStep(from, path);
    if (locked) opening.push(step);
    const was = locked ? step.set : attributesOf(from);
    if (locked || !sameAttributes(from, to)) finals.push({ op: 'attributes', path, set: attributesOf(to), was });
  };

  /** Untouched entries that were only opened for reading: they are closed before their parent directories. */
  const closing = (): readonly RestoreStep[] => {
    const done = new Set(finals.map(step => step.path));
    const isGone = (path: string) => asides.some(step => step.path === path || path.startsWith(`${step.path}/`));
    return [...opened.keys()].toReversed().flatMap(path => {
      const node = nodeAt(desired, path === '' ? [] : path.split('/'));
      if (done.has(path) || isGone(path) || (node?.kind !== 'directory' && node?.kind !== 'file')) return [];
      const was = node.kind === 'file' ? { ...attributesOf(node), mode: node.mode | 0o400 } : openStep(node, path).set;
      return [{ op: 'attributes' as const, path, set: attributesOf(node), was }];
    });
  };

  rescue();
  walk(now, desired, '');
  const first = [...opening, ...rescued, ...asides, ...builds];
  return { steps: [...first, ...closing(), ...finals], staged, expected, finals: first.length };
}

function openStep(node: Attributes, path: string) {
  const set = { ...attributesOf(node), mode: node.mode | 0o700 };
  return { op: 'attributes' as const, path, set, was: attributesOf(node) };
}

/** Opaque directories that must be moved, by identity. Subtrees shared by both trees are skipped. */
function newOpaque(
  from: TreeNode | undefined,
  to: DirectoryNode,
  at = '',
  found = new Map<string, string>(),
): ReadonlyMap<string, string> {
  for (const [name, node] of to.entries) {
    const old = from?.kind === 'directory' ? from.entries.get(name) : undefined;
    if (old === node) continue;
    if (node.kind === 'opaque') found.set(node.identity, joined(at, name));
    else if (node.kind === 'directory') newOpaque(old, node, joined(at, name), found);
  }
  return found;
}
