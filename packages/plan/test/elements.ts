import { createElement } from '../src/jsx/create-element.ts';
import type { ElementType, PlanChild, PlanElement } from '../src/jsx/element.ts';
import type { PlanNode } from '../src/nodes/plan-node.ts';
import { type AnyPlan, definePlan } from '../src/plan-definition.ts';
import { createRenderer, type Renderer } from '../src/render/renderer.ts';

/** JSX by hand: `el(Phase, { name: 'a' }, child, child)`. `line` is where it stands in `plan.tsx`. */
export function el(
  type: unknown,
  props: { readonly key?: unknown; readonly line?: number; readonly [prop: string]: unknown },
  ...children: readonly unknown[]
): PlanElement {
  const { key, line, ...rest } = props;
  const source = line === undefined ? undefined : { file: 'plan.tsx', line, column: 1 };
  const [only] = children;
  const inside = children.length === 0 ? {} : { children: children.length === 1 ? only : children };
  return createElement(type as ElementType, { ...rest, ...inside }, { key, source, isStatic: children.length > 1 });
}

/** A plan that shows what `render` returns. */
function planOf(render: () => PlanChild): AnyPlan {
  return definePlan({ name: 'test', render });
}

/** A renderer without state of its own: `render` reads what it closes over. */
export function rendererOf(render: () => PlanChild, iterationOf: (loop: string) => number = () => 0): Renderer {
  return createRenderer({ plan: planOf(render), context: {} as never, iterationOf });
}

export function treeOf(render: () => PlanChild): PlanNode {
  return rendererOf(render).render();
}

/** The tree in short: `phase(task task)`. */
export function shapeOf(node: PlanNode): string {
  return node.children.length === 0 ? node.kind : `${node.kind}(${node.children.map(shapeOf).join(' ')})`;
}

export function nodesOf(node: PlanNode): readonly PlanNode[] {
  return [node, ...node.children.flatMap(nodesOf)];
}
