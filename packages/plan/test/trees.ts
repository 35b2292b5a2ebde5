import type { NodeKind } from '../src/nodes/node-kind.ts';
import type { PlanNode } from '../src/nodes/plan-node.ts';

/** A node by hand, for tests that need no JSX. */
export function node(kind: NodeKind, id: string, children: readonly PlanNode[] = [], data: object = {}): PlanNode {
  const code = { handlers: {}, run: () => null };
  return { kind, id, data: { ...defaults[kind], ...data }, children, code } as unknown as PlanNode;
}

const defaults: Partial<Record<NodeKind, object>> = {
  plan: { name: 'test' },
  branch: { name: 'then', taken: true },
  phase: { name: 'phase' },
  task: { retries: 3 },
  while: { goesOn: true, maxIterations: 3 },
  ralph: { goesOn: true, maxIterations: 3 },
  claude: { prompt: 'p', maxTurns: 50, resume: 'continue', retries: 3 },
  human: { prompt: 'p', retries: 3 },
};

export const plan = (...children: readonly PlanNode[]) => node('plan', 'root', children);
export const phase = (id: string, ...children: readonly PlanNode[]) => node('phase', id, children, { name: id });
export const step = (id: string, ...children: readonly PlanNode[]) => node('step', id, children);
export const parallel = (id: string, limit: number | undefined, ...children: readonly PlanNode[]) =>
  node('parallel', id, children, limit === undefined ? {} : { limit });
export const task = (id: string, input?: number) => node('task', id, [], input === undefined ? {} : { input });
export const loop = (
  id: string,
  data: { goesOn?: boolean; maxIterations?: number },
  ...children: readonly PlanNode[]
) => node('while', id, children, data);
export const branch = (id: string, taken: boolean, ...children: readonly PlanNode[]) =>
  node('if', id, [node('branch', `${id}.then`, children, { taken })], { condition: taken });
export const each = (id: string, ...children: readonly PlanNode[]) =>
  node('each', id, children, { items: children.length });
