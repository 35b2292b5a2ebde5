import type { Commit } from '@signalbox/runs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import * as z from 'zod';
import type { PlanElement } from '../src/jsx/element.ts';
import { Fragment } from '../src/jsx/element.ts';
import { Each, If, Parallel, Phase, Step, Task, While } from '../src/nodes/components.ts';
import type { PlanNode } from '../src/nodes/plan-node.ts';
import { definePlan } from '../src/plan-definition.ts';
import { el, nodesOf } from './elements.ts';
import { type Harness, harness } from './harness.ts';
import { lateCommits, lateEnd } from './late-commits.ts';
import { trees } from './tree-arbitrary.ts';

const soak = process.env.SIGNALBOX_SOAK === '1';

/** A plan that looks like the tree; each task notes its id when it has ended. */
function planOf(tree: PlanNode) {
  return definePlan({
    name: 'any',
    state: z.object({ ended: z.array(z.string()).default([]) }),
    render: ctx => {
      const elementOf = (node: PlanNode): PlanElement => {
        const props = { id: node.id, key: node.id };
        const inside = node.children.map(elementOf);
        switch (node.kind) {
          case 'task':
            return el(Task, {
              ...props,
              effects: 'none',
              run: () => node.id,
              onFinished: (id: string) => ctx.state.update('ended', ended => [...ended, id]),
            });
          case 'phase':
            return el(Phase, { ...props, name: node.id }, inside);
          case 'step':
            return el(Step, props, inside);
          case 'parallel':
            return el(Parallel, { ...props, ...node.data }, inside);
          case 'each':
            return el(Each, { ...props, items: inside }, (child: PlanElement) => child);
          case 'while':
            return el(While, { ...props, condition: node.data.goesOn, maxIterations: node.data.maxIterations }, inside);
          case 'if':
            return el(
              If,
              { ...props, condition: node.data.condition },
              node.children.flatMap(branch => branch.children.map(elementOf)),
            );
          default:
            return el(Fragment, { key: node.id }, inside);
        }
      };
      return tree.children.map(elementOf);
    },
  });
}

/** How often each task runs: once for every time round of the loops about it, and not at all where nothing leads to it. */
function expectedRuns(node: PlanNode, times = 1): readonly string[] {
  const { kind, data } = node;
  if (kind === 'task') return Array.from({ length: times }, () => node.id);
  if (kind === 'branch' && !data.taken) return [];
  const inner = kind === 'while' ? times * (data.goesOn ? data.maxIterations : 0) : times;
  return node.children.flatMap(child => expectedRuns(child, inner));
}

async function play(
  tree: PlanNode,
  deaths: readonly { readonly commit: number; readonly durable: boolean }[],
  isAhead: boolean,
) {
  const world = harness();
  const plan = planOf(tree);
  for (let life = 0; ; life++) {
    const dies = dying(world, deaths[life]);
    const late = isAhead ? lateCommits(dies) : undefined;
    const options = { commit: late ?? dies, ...(isAhead && { commitsAhead: { patientFrames: 0 } }) };
    const run =
      (await world.runs.run(world.run)) === undefined ? world.start(plan, options) : world.resume(plan, options);
    const end = await (late === undefined ? world.end(run) : lateEnd(world, run, late));
    if (end.status === 'lost') continue;
    const ended = end.status === 'completed' ? (end.output as { readonly ended: readonly string[] }).ended : [];
    return {
      status: end.status,
      ended: [...ended].sort(),
      tasks: (await world.runs.tasks(world.run)).map(task => task.status),
    };
  }
}

function dying(world: Harness, death: { readonly commit: number; readonly durable: boolean } | undefined): Commit {
  let commits = 0;
  const dead = {
    ok: false,
    error: { code: 'store/outcome-unknown', message: 'dead', retry: { kind: 'not_retryable' }, suggestion: 'resume' },
  } as const;
  return {
    async commit(writes, guard) {
      commits += 1;
      if (death === undefined || commits < death.commit) return world.runs.commit(writes, guard);
      if (death.durable && commits === death.commit) await world.runs.commit(writes, guard);
      return dead;
    },
  };
}

it('[P41, P52, P310] any plan runs every task as often as its structure says, even when processes die on the way', async () => {
  const deaths = fc.array(fc.record({ commit: fc.integer({ min: 1, max: 6 }), durable: fc.boolean() }), {
    maxLength: 3,
  });
  await fc.assert(
    fc.asyncProperty(
      trees.filter(tree => nodesOf(tree).length < 40),
      deaths,
      fc.boolean(),
      async (tree, died, isAhead) => {
        const expected = [...expectedRuns(tree)].sort();
        const result = await play(tree, died, isAhead);
        expect(result).toEqual({ status: 'completed', ended: expected, tasks: expected.map(() => 'done') });
      },
    ),
    { numRuns: soak ? 2000 : 60 },
  );
});
