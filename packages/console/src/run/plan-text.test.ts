import type { TreeNode } from '@signalbox/model';
import { describe, expect, it } from 'vitest';
import { planOutline, planXml } from './plan-text.ts';

const node = (id: string, kind: string, fields: object = {}) =>
  ({ id, kind, label: id, status: 'idle', index: 0, iteration: 0, ...fields }) as unknown as TreeNode;
const nodes = [
  node('root', 'plan'),
  node('a', 'phase', { parent: 'root' }),
  node('b', 'task', { parent: 'a', label: 'x & "y" <z>', iteration: 2 }),
  node('c', '0 odd', { parent: 'root', index: 1, source: { file: '/p/plan.tsx', line: 3, column: 1 } }),
];

describe('a plan as text', () => {
  it('[K21] is XML whose values cannot be taken for markup', () => {
    expect(planXml(nodes).split('\n')).toEqual([
      '<plan id="root" label="root" status="idle">',
      '  <phase id="a" label="a" status="idle">',
      '    <task id="b" label="x &amp; &quot;y&quot; &lt;z>" status="idle" iteration="2"/>',
      '  </phase>',
      '  <node id="c" label="c" status="idle"/>',
      '</plan>',
    ]);
    expect(planXml([])).toBe('');
  });

  it('[K21] is an outline with source locations', () => {
    expect(planOutline(nodes).split('\n').at(-1)).toBe('  c <0 odd> idle  plan.tsx:3');
  });
});
