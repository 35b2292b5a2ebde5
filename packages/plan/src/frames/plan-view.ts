import type { NodeKey } from '@signalbox/runs';
import type { PlanContext } from '../context.ts';
import type { EffectCall } from '../effects/effect-registry.ts';
import type { PlanNode } from '../nodes/plan-node.ts';
import { type TreeNode, treeToJson } from '../nodes/tree-json.ts';
import { reconcile } from '../render/reconcile.ts';
import { createRenderer, type Renderer } from '../render/renderer.ts';
import { createReadable, type Readable } from '../render/tracked.ts';
import { turned } from '../structure/loop-turn.ts';
import { iterationOf, type NodeRecord } from '../structure/node-record.ts';
import type { Activity, Structure } from '../structure/structure.ts';
import type { EffectRound } from './effect-round.ts';
import type { EngineBase } from './engine.ts';
import { putNodeRows } from './frame-rows.ts';
import { createReadBook, LOOP, type ReadBook, type ReadSources } from './read-book.ts';

/**
 * The plan's tree in this frame, and its changes since the last one.
 *
 * 1. A render that throws changes nothing: no loop has turned, and the tree is that of the last frame.
 * 2. The first tree of a process is compared with what the previous process committed.
 */
export interface PlanView {
  /** Renders, and collects what the frame asks for. */
  settle(): Settled;
  /** Compares the new tree with the last one and puts the differences into the ledger. Removed nodes are reported first. */
  reconcile(next: PlanNode, onLeft: (node: string) => void): TreeChange;
  /** The reads of renders. */
  readonly reads: ReadBook;
  readonly renderer: Renderer;
  /** Whether a Phase named VERIFY runs. */
  readonly isVerifying: boolean;
  /** The tree of the last frame. */
  readonly tree: PlanNode | undefined;
  shown(): TreeNode | undefined;
}

export interface Settled {
  readonly tree: PlanNode;
  readonly activity: Activity;
  /** The frame's effects. */
  readonly calls: readonly EffectCall[];
  /** A loop wants another iteration, which belongs to the next frame. */
  readonly goesOn: boolean;
}

interface TreeChange {
  readonly mounted: readonly NodeKey[];
  readonly unmounted: readonly NodeKey[];
  /** Mounted in this process: all nodes in its first frame. */
  readonly added: readonly PlanNode[];
}

/** `context` is passed to the plan's code. */
export function createPlanView(
  base: EngineBase,
  context: unknown,
  { effects, ...sources }: ReadSources & { readonly effects: EffectRound },
): PlanView {
  const { options, memory, structure } = base;
  const { records } = memory;
  const loops = [...records].filter(([, record]) => record.loop !== undefined);
  const iterations = createReadable(LOOP, new Map(loops.map(([id, record]) => [id, iterationOf(record)])));
  const renderer = createRenderer({
    plan: options.plan,
    context: context as PlanContext<unknown, object>,
    iterationOf: loop => (iterations.read(loop) as number | undefined) ?? 0,
    clean: memory.clean,
  });
  const rendering = { renderer, structure, records, iterations };
  const callsOf = (activity: Activity) => effects.calls(activity, renderer);
  let tree: PlanNode | undefined;
  /** The plan's phases with that name. */
  const verifying = new Set<string>();
  return {
    renderer,
    reads: createReadBook(base, renderer, sources),
    settle: () => settle(rendering, tree, callsOf),
    reconcile(next, onLeft) {
      if (tree === next) return { mounted: [], unmounted: [], added: [] };
      const diff = reconcile(tree, next);
      const former = tree === undefined ? memory.formerNodes : new Map<string, string>();
      const left = [...former.keys()].filter(id => !diff.rows.has(id)).concat(diff.unmounted.map(node => node.id));
      tree = next;
      left.forEach(onLeft);
      for (const id of left) verifying.delete(id);
      for (const { kind, id, data } of diff.mounted) {
        if (kind === 'phase' && data.name.toUpperCase() === 'VERIFY') verifying.add(id);
      }
      putNodeRows(memory, diff.rows, left);
      const mounted = diff.mounted.filter(node => !former.has(node.id));
      return {
        mounted: mounted.map(node => node.id as NodeKey),
        unmounted: left as NodeKey[],
        added: diff.mounted,
      };
    },
    get isVerifying() {
      return [...verifying].some(id => structure.statusOf(id) === 'running');
    },
    get tree() {
      return tree;
    },
    shown: () => tree && shownTree(tree, structure, records),
  };
}

/** A tree with its statuses. */
export function shownTree(tree: PlanNode, structure: Structure, records: ReadonlyMap<string, NodeRecord>): TreeNode {
  return treeToJson(tree, id => {
    const record = records.get(id);
    const iteration = record?.loop === undefined ? {} : { iteration: iterationOf(record) };
    return { status: structure.statusOf(id), ...iteration };
  });
}

/** The parts of a render. */
export interface Rendering {
  readonly renderer: Renderer;
  readonly structure: Structure;
  readonly records: Map<string, NodeRecord>;
  readonly iterations: Readable;
}

/**
 * Renders until no loop wants to turn: a loop's content depends on its iteration, and whether it turns depends on its content. A loop turns
 * at most once a frame and may be left in the same frame, so this ends. If a render throws, no loop has turned and the structure is that of
 * `shown`, the tree of the last frame.
 */
export function settle(
  { renderer, structure, records, iterations }: Rendering,
  shown: PlanNode | undefined,
  callsOf: (activity: Activity) => readonly EffectCall[],
): Settled {
  const hasTurned = new Set<string>();
  const before = new Map<string, NodeRecord | undefined>();
  try {
    for (;;) {
      const tree = renderer.render();
      structure.setTree(tree);
      const activity = structure.activity();
      const turns = activity.turns.filter(({ loop, turn }) => turn === 'leave' || !hasTurned.has(loop.id));
      if (turns.length === 0) return { tree, activity, goesOn: activity.turns.length > 0, calls: callsOf(activity) };
      for (const { loop, turn } of turns) {
        const known = records.get(loop.id);
        if (!before.has(loop.id)) before.set(loop.id, known);
        const record = turned(known, turn, structure.scopeOf(loop.id));
        records.set(loop.id, record);
        if (turn !== 'leave') hasTurned.add(loop.id);
        structure.touch(loop.id);
        iterations.write(new Map([[loop.id, iterationOf(record)]]));
      }
    }
  } catch (error) {
    for (const [loop, record] of before) {
      if (record === undefined) records.delete(loop);
      else records.set(loop, record);
    }
    structure.setTree(shown);
    for (const loop of before.keys()) structure.touch(loop);
    throw error;
  }
}
