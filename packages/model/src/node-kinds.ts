import type { Provider } from './contract/node.ts';

/** What a node is for: `agent` and `work` do something themselves, all others say which of them run and when. */
type NodeRole = 'structure' | 'loop' | 'agent' | 'work' | 'effect' | 'ending';

/** How nodes of a kind are shown. How the engine treats them is the other half of the kind, `nodeKinds` in `plan`. */
interface NodeKindFacts {
  readonly role: NodeRole;
  /** Whose agent it is in the contract's view (R20); undefined where that view leaves the node out. */
  readonly provider: Provider | undefined;
  /** A detail for trees, from the stored data of the node. `turn` counts from 0; undefined before a loop is reached. */
  readonly detail: (data: Readonly<Record<string, unknown>>, turn: number | undefined) => string | undefined;
}

const nothing = () => undefined;
const structure = (detail: NodeKindFacts['detail'] = nothing) =>
  ({ role: 'structure', provider: undefined, detail }) as const;
const work = (detail: NodeKindFacts['detail'] = nothing) => ({ role: 'work', provider: 'custom', detail }) as const;
const agent = (provider: Provider) =>
  ({
    role: 'agent',
    provider,
    detail: ({ model, prompt }) => firstLines(model, prompt),
  }) as const satisfies NodeKindFacts;
const loop = {
  role: 'loop',
  provider: undefined,
  detail: ({ maxIterations }, turn) =>
    turn === undefined ? `at most ${maxIterations} turns` : `turn ${turn + 1} of at most ${maxIterations}`,
} as const satisfies NodeKindFacts;
const ending = {
  role: 'ending',
  provider: undefined,
  detail: ({ reason }) => textOf(reason),
} as const satisfies NodeKindFacts;

/**
 * Every kind of plan node. `plan` is the root, `branch` a way that an If or Switch can go, `component` a component that was
 * not called because its branch was not taken.
 */
export const planNodeKinds = {
  plan: structure(),
  component: structure(),
  branch: structure(),
  if: structure(({ condition }) => (condition === true ? 'true' : 'false')),
  switch: structure(({ value }) => String(value)),
  each: structure(({ items }) => `${items} items`),
  while: loop,
  ralph: loop,
  recover: { ...loop, detail: (_, turn) => (turn === undefined || turn === 0 ? undefined : 'failed: its fallback') },
  phase: structure(),
  step: structure(),
  parallel: structure(),
  agent: agent('custom'),
  claude: agent('claude'),
  codex: agent('codex'),
  gemini: agent('gemini'),
  openai: agent('custom'),
  task: work(),
  human: work(({ prompt }) => firstLines(prompt)),
  keep: work(({ from }) => (Array.isArray(from) ? `one of ${from.join(', ')}` : undefined)),
  subplan: work(),
  timer: work(({ until, forMs }) => (until === undefined ? `for ${Number(forMs) / 1000} s` : `until ${until}`)),
  effect: { role: 'effect', provider: undefined, detail: nothing },
  stop: ending,
  end: ending,
} as const satisfies Readonly<Record<string, NodeKindFacts>>;

export type PlanNodeKind = keyof typeof planNodeKinds;

/** Undefined for a kind that is not known here, such as one that a later version wrote. */
export function nodeKindFacts(kind: string): NodeKindFacts | undefined {
  return Object.hasOwn(planNodeKinds, kind) ? planNodeKinds[kind as PlanNodeKind] : undefined;
}

/** Whether nodes of the kind do work themselves. */
export function isWorkKind(kind: string): boolean {
  const role = nodeKindFacts(kind)?.role;
  return role === 'agent' || role === 'work';
}

function firstLines(...parts: readonly unknown[]): string | undefined {
  const lines = parts.flatMap(part => textOf(part)?.trim().split('\n', 1) ?? []);
  return lines.length === 0 ? undefined : lines.join(' · ');
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}
