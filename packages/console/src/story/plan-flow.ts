import { nodeKindFacts, type TreeNode } from '@signalbox/model';

/** A part of a plan as it flows: a piece of work, or a group of parts. */
export interface FlowPart {
  readonly node: TreeNode;
  /** One after another, side by side, or alternatives of which one is taken. */
  readonly shape: 'work' | 'sequence' | 'parallel' | 'choice';
  readonly isLoop: boolean;
  readonly parts: readonly FlowPart[];
}

/** These run in order among their siblings. */
const IN_ORDER: ReadonlySet<string> = new Set(['phase', 'step']);
const CHOICES: ReadonlySet<string> = new Set(['if', 'switch']);

/** The plan as it flows, from its root. */
export function planFlow(nodes: readonly TreeNode[]): readonly FlowPart[] {
  const children = Map.groupBy(nodes, ({ parent }) => parent);
  const partsOf = (parent: string | undefined): readonly FlowPart[] =>
    (children.get(parent) ?? []).toSorted((a, b) => a.index - b.index).map(partOf);
  const partOf = (node: TreeNode): FlowPart => {
    const parts = partsOf(node.id);
    const isLoop = nodeKindFacts(node.kind)?.role === 'loop';
    return { node, shape: shapeOf(node, parts), isLoop, parts };
  };
  return partsOf(undefined);
}

function shapeOf({ kind }: TreeNode, parts: readonly FlowPart[]): FlowPart['shape'] {
  if (parts.length === 0) return 'work';
  if (CHOICES.has(kind)) return 'choice';
  return parts.length === 1 || parts.some(({ node }) => IN_ORDER.has(node.kind)) ? 'sequence' : 'parallel';
}

/** What a person looks for first. */
const URGENT: Readonly<Record<string, number>> = { failed: 0, abandoned: 0, blocked: 1, running: 2, scheduled: 3 };
const CALM = 4;

/** The parts of a large group that are shown, what matters first but in the order of the plan, and how many are left out by status. */
export function shownParts(
  parts: readonly FlowPart[],
  most: number,
): { readonly shown: readonly FlowPart[]; readonly rest: ReadonlyMap<TreeNode['status'], number> } {
  if (parts.length <= most) return { shown: parts, rest: new Map() };
  const urgency = ({ node }: FlowPart) => URGENT[node.status] ?? CALM;
  const chosen = new Set(parts.toSorted((a, b) => urgency(a) - urgency(b)).slice(0, most));
  const rest = Map.groupBy(
    parts.filter(part => !chosen.has(part)),
    ({ node }) => node.status,
  );
  return {
    shown: parts.filter(part => chosen.has(part)),
    rest: new Map([...rest].map(([status, left]) => [status, left.length])),
  };
}
