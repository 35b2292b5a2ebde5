import fc from 'fast-check';
import type { PlanNode } from '../src/nodes/plan-node.ts';
import { branch, each, loop, parallel, phase, plan, step, task } from './trees.ts';

/** A node that is told its id when its place is known. */
type Make = (id: string) => PlanNode;

const under =
  (make: (id: string, children: readonly PlanNode[]) => PlanNode) =>
  (children: readonly Make[]): Make =>
  id =>
    make(
      id,
      children.map((child, index) => child(`${id}.${index}`)),
    );

/** Plans of any shape. */
export const trees: fc.Arbitrary<PlanNode> = fc
  .letrec<{ node: Make; list: Make[] }>(tie => {
    const inside = tie('list');
    return {
      list: fc.array(tie('node'), { maxLength: 4 }),
      node: fc.oneof(
        { maxDepth: 4, depthSize: 'small' },
        fc.constant<Make>(id => task(id)),
        inside.map(under((id, children) => phase(id, ...children))),
        inside.map(under((id, children) => step(id, ...children))),
        inside.map(under((id, children) => each(id, ...children))),
        fc
          .tuple(inside, fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }))
          .map(([children, limit]) => under((id, made) => parallel(id, limit, ...made))(children)),
        fc
          .tuple(inside, fc.boolean())
          .map(([children, taken]) => under((id, made) => branch(id, taken, ...made))(children)),
        fc
          .tuple(inside, fc.boolean(), fc.integer({ min: 1, max: 3 }))
          .map(([children, goesOn, max]) =>
            under((id, made) => loop(id, { goesOn, maxIterations: max }, ...made))(children),
          ),
      ),
    };
  })
  .list.map(list => plan(...list.map((make, index) => make(`n${index}`))));
