import type { TreeNode } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { type FlowPart, planFlow, shownParts } from './plan-flow.ts';

const node = (id: string, kind: string, parent?: string, status = 'idle', index = 0) =>
  ({
    id,
    kind,
    label: id,
    status,
    index,
    iteration: 0,
    ...(parent !== undefined && { parent }),
  }) as unknown as TreeNode;
const told = (parts: readonly FlowPart[]): readonly string[] =>
  parts.map(({ node: { id }, shape, isLoop, parts: inner }) =>
    inner.length === 0 ? id : `${id} ${isLoop ? 'loop ' : ''}${shape} (${told(inner).join(', ')})`,
  );

describe('a plan as it flows', () => {
  it('[K187] has phases and steps in sequence, other work side by side, branches as a choice, and loops', () => {
    const nodes = [
      node('root', 'plan'),
      node('second', 'phase', 'root', 'idle', 1),
      node('first', 'phase', 'root', 'idle', 0),
      node('loop', 'while', 'first'),
      node('once', 'task', 'loop'),
      node('a', 'task', 'second', 'idle', 0),
      node('b', 'task', 'second', 'idle', 1),
      node('if', 'if', 'second', 'idle', 2),
      node('then', 'branch', 'if', 'idle', 0),
      node('else', 'branch', 'if', 'skipped', 1),
      node('yes', 'task', 'then'),
    ];
    expect(told(planFlow(nodes))).toEqual([
      'root sequence (first sequence (loop loop sequence (once)), second parallel (a, b, if choice (then sequence (yes), else)))',
    ]);
  });

  it('[K187] shows of a large group what matters, in the order of the plan, and counts the rest', () => {
    const nodes = [
      node('root', 'parallel'),
      ...Array.from({ length: 2_000 }, (_, index) =>
        node(`n${index}`, 'task', 'root', index === 1_500 ? 'failed' : index === 7 ? 'running' : 'succeeded', index),
      ),
    ];
    const { shown, rest } = shownParts(planFlow(nodes)[0]?.parts ?? [], 4);
    expect(told(shown)).toEqual(['n0', 'n1', 'n7', 'n1500']);
    expect([...rest]).toEqual([['succeeded', 1_996]]);
    expect(shownParts(shown, 4).rest.size).toBe(0);
  });
});
