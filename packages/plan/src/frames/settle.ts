import type { EffectCall } from '../effects/effect-registry.ts';
import type { PlanNode } from '../nodes/plan-node.ts';
import type { Renderer } from '../render/renderer.ts';
import type { Readable } from '../render/tracked.ts';
import { turned } from '../structure/loop-turn.ts';
import { iterationOf, type NodeRecord } from '../structure/node-record.ts';
import type { Activity, Structure } from '../structure/structure.ts';

export interface Settled {
  /** What the frame asks for of effects. */
  readonly calls: readonly EffectCall[];
  readonly tree: PlanNode;
  readonly activity: Activity;
  /** A loop wants another turn, which belongs to the next frame. */
  readonly goesOn: boolean;
}

/**
 * Renders until no loop wants to turn: what a loop shows depends on its iteration, and whether it turns on what it shows.
 * A loop turns at most once a frame and may be left in the same frame, so this ends. Where a render throws, no loop has
 * turned and the structure is that of `shown`, the tree of the last frame.
 */
export function settle(
  renderer: Renderer,
  structure: Structure,
  records: Map<string, NodeRecord>,
  iterations: Readable,
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
