import type { PlanContext } from '../context.ts';
import type { EffectCall } from '../effects/effect-registry.ts';
import { slotsOf } from '../jsx/create-element.ts';
import type { NodeEdit } from '../nodes/node-edit.ts';
import { nodeIdOf, ROOT_PATH } from '../nodes/node-id.ts';
import type { PlanNode } from '../nodes/plan-node.ts';
import { type AnyPlan, placeOfPlan } from '../plan-definition.ts';
import { asPlanError, PlanError, positionOf } from '../plan-error.ts';
import type { CleanData } from '../state/clean-data.ts';
import { createMounts, type Mounts, type Parent, rendered, type SlotMount } from './mounts.ts';
import { type Tracked, track } from './tracked.ts';

/**
 * Renders a plan, and renders again what changed.
 *
 * 1. A component is called again only when its props changed or something it read did.
 * 2. An unchanged part of the tree is the same object in the next tree.
 * 3. It only calls the author's code: no write, no task.
 */
export interface Renderer {
  render(): PlanNode;
  /** Something that was read has changed since. */
  readonly isStale: boolean;
  /** Every key that the current render has read, prefixed with the name of its space. */
  readonly reads: ReadonlySet<string>;
  /** Keys that were added to or removed from `reads` since the last call. */
  takeReadChanges(): ReadonlySet<string>;
  /** The effects that components requested with `ctx.effect`. */
  effects(): readonly EffectCall[];
  close(): void;
}

export interface RendererOptions {
  readonly plan: AnyPlan;
  readonly context: PlanContext<unknown, object>;
  /** The iteration of a loop, as a tracked read: which body is being rendered. */
  iterationOf(loop: string): number;
  readonly clean?: CleanData | undefined;
  /** A person's change of a node's input. */
  editOf?(node: string): NodeEdit | undefined;
}

export function createRenderer({ plan, context, iterationOf, clean, editOf }: RendererOptions): Renderer {
  const id = nodeIdOf(ROOT_PATH);
  const root: Parent = { parent: undefined, stale: false };
  const mounts: Mounts = createMounts(iterationOf, clean, editOf);
  let body: Tracked<ReturnType<typeof slotsOf>> | undefined;
  let bodyStale = true;
  let children: readonly SlotMount[] = [];
  let tree: PlanNode | undefined;

  const evaluate = () => {
    if (body !== undefined) mounts.forget(body);
    try {
      body = track(
        () =>
          slotsOf(
            rendered(plan.render(context as never), undefined, () => placeOfPlan(plan)),
            false,
            plan.name,
            undefined,
          ),
        () => {
          bodyStale = true;
          root.stale = true;
        },
      );
    } catch (error) {
      throw asPlanError(error, 'plan/render-failed');
    }
    mounts.remember(body);
    bodyStale = false;
    return body.value;
  };

  return {
    reads: mounts.reads,
    takeReadChanges: mounts.takeReadChanges,
    get isStale() {
      return root.stale;
    },
    effects() {
      const calls = [...mounts.asking].flatMap(code => code.effects);
      const ids = new Set<string>();
      for (const { id } of calls) {
        if (ids.has(id)) throw new PlanError('plan/duplicate-id', `two components ask for the effect '${id}'`);
        ids.add(id);
      }
      return calls;
    },
    render() {
      if (tree !== undefined && !root.stale) return tree;
      const slots = bodyStale ? evaluate() : (body?.value ?? []);
      children = mounts.updateSlots(children, slots, { path: ROOT_PATH, parent: root, skipped: false, tag: plan.name });
      const [twice] = mounts.conflicts();
      if (twice !== undefined) {
        const [first, second] = twice.positions;
        throw new PlanError(
          'plan/duplicate-id',
          `two nodes have the id '${twice.id}': at ${positionOf(first)} and at ${positionOf(second)}`,
        );
      }
      root.stale = false;
      tree = { kind: 'plan', id, data: { name: plan.name }, children: children.flatMap(mount => mount?.nodes ?? []) };
      return tree;
    },
    close() {
      mounts.unmount(children);
      if (body !== undefined) mounts.forget(body);
    },
  };
}
