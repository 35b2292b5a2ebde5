import type { RunId, RunStatus, Timestamp } from '@signalbox/model';
import { hasRunEnded } from '../run/run-lifecycle.ts';
import type { RunOrigin } from '../run/run-record.ts';
import type { RetentionPolicy } from './retention-policy.ts';

/** The facts about a run that determine how long it is kept. */
export interface RetainedRun {
  readonly id: RunId;
  readonly status: RunStatus;
  readonly endedAt?: Timestamp | undefined;
  readonly origin?: RunOrigin | undefined;
  readonly isKept: boolean;
  /** A process is driving it. */
  readonly isDriven: boolean;
  readonly isCollapsed: boolean;
  readonly frames: number;
}

export interface RetentionPlan {
  /** Runs to remove, each with all its sub-plans: together or not at all. */
  readonly remove: readonly (readonly RunId[])[];
  readonly collapse: readonly RunId[];
  /** Runs old enough to remove, and why they stay. */
  readonly spared: readonly { readonly run: RunId; readonly why: 'kept' | 'forked' }[];
}

/** With fewer frames there is nothing to collect. */
const MIN_FRAMES = 3;

/**
 * Decides which runs to remove and which to collapse now.
 *
 * 1. A run and its sub-plans stay or go together, by the age of the topmost run.
 * 2. A run that has not ended, is driven or is kept stays unchanged, and so does any run above it.
 * 3. A run with a fork stays as long as the fork does; it may be collapsed.
 */
export function planRetention(runs: readonly RetainedRun[], policy: RetentionPolicy, nowMs: number): RetentionPlan {
  const byId = new Map(runs.map(run => [run.id, run]));
  const rootOf = (run: RetainedRun): RetainedRun => {
    const parent = run.origin?.kind === 'sub-plan' ? byId.get(run.origin.run) : undefined;
    return parent === undefined ? run : rootOf(parent);
  };
  const trees = [...Map.groupBy(runs, run => rootOf(run).id)].map(([root, members]) => ({ root, members }));
  const isOlder = (tree: Tree, afterDays: number | null) => {
    const ended = Date.parse(byId.get(tree.root)?.endedAt ?? '');
    return afterDays !== null && nowMs - ended >= afterDays * DAY_MS;
  };
  const isOver = ({ members }: Tree) => members.every(({ status, isDriven }) => hasRunEnded(status) && !isDriven);
  const isKept = ({ members }: Tree) => members.some(member => member.isKept);

  const going = new Set(trees.filter(tree => isOver(tree) && !isKept(tree) && isOlder(tree, policy.removeAfterDays)));
  const treeOf = new Map(trees.flatMap(tree => tree.members.map(({ id }) => [id, tree] as const)));
  const forked = new Set<Tree>();
  // A remaining fork holds its parent, which holds its own parent.
  for (let before = -1; before !== going.size; ) {
    before = going.size;
    for (const { id, origin } of runs) {
      const parent = origin?.kind === 'fork' ? treeOf.get(origin.run) : undefined;
      const own = treeOf.get(id);
      if (parent === undefined || own === undefined || going.has(own)) continue;
      if (going.delete(parent)) forked.add(parent);
    }
  }

  const old = trees.filter(tree => isOver(tree) && !going.has(tree) && !isKept(tree));
  return {
    remove: [...going].map(({ members }) => members.map(({ id }) => id)),
    collapse: old
      .filter(tree => isOlder(tree, policy.collapseAfterDays))
      .flatMap(({ members }) =>
        members.filter(run => !run.isCollapsed && run.frames >= MIN_FRAMES).map(({ id }) => id),
      ),
    spared: [
      ...trees
        .filter(tree => isOver(tree) && isKept(tree) && isOlder(tree, policy.removeAfterDays))
        .map(({ root }) => ({ run: root, why: 'kept' as const })),
      ...[...forked].map(({ root }) => ({ run: root, why: 'forked' as const })),
    ],
  };
}

interface Tree {
  readonly root: RunId;
  readonly members: readonly RetainedRun[];
}

const DAY_MS = 86_400_000;
