import {
  defined,
  type Json,
  type NodeId,
  nodeKindFacts,
  nodeStatus,
  type RunId,
  type TreeNode,
  textOf,
  truncateUtf8,
} from '@signalbox/model';
import type { Decision, DecisionKind, RunReader } from '@signalbox/runs';
import * as z from 'zod';
import { nodeNames } from './node-names.ts';

/** A node's row: without its children, but with its place. */
const nodeRow = z.object({
  kind: z.string(),
  parent: z.string().optional(),
  index: z.int(),
  source: z.object({ file: z.string(), line: z.int(), column: z.int() }).optional(),
  handlers: z.array(z.string()).optional(),
  data: z.record(z.string(), z.unknown()),
});
type NodeRow = z.infer<typeof nodeRow>;

const statusRow = z.object({
  status: nodeStatus,
  iteration: z.int().nonnegative(),
  reason: z.string().optional(),
  loop: z.object({ total: z.int(), base: z.int() }).optional(),
});
type StatusRow = z.infer<typeof statusRow>;

/** A node of the tree, and the author's props. */
export interface ReadNode {
  readonly node: TreeNode;
  readonly data: NodeRow['data'];
}

/** The tree of a frame, each node after its parent; empty before the first frame. */
export async function readTree(reader: RunReader, run: RunId, frame: number): Promise<readonly ReadNode[]> {
  const nameOf = nodeNames(run);
  const [rows, statuses] = await Promise.all([reader.at(run, 'node', frame), reader.at(run, 'status', frame)]);
  const nodes = new Map([...rows].map(([id, row]) => [id, nodeRow.parse(row)]));
  const children = Map.groupBy(nodes.keys(), id => nodes.get(id)?.parent);
  const inOrder: ReadNode[] = [];
  const visit = (ids: readonly string[]): void => {
    for (const id of ids.toSorted((a, b) => indexOf(nodes, a) - indexOf(nodes, b))) {
      const row = nodes.get(id);
      if (row === undefined) continue;
      inOrder.push({ node: viewOf(id, nameOf(id), row, statuses.get(id)), data: row.data });
      visit(children.get(id) ?? []);
    }
  };
  visit(children.get(undefined) ?? []);
  return inOrder;
}

/** The tree of a run as it is now: work that goes on and has asked a person waits for them. */
export function withAsking(
  tree: readonly ReadNode[],
  open: readonly { readonly decision: Pick<Decision, 'node' | 'kind'> }[],
): readonly ReadNode[] {
  const asking = askedKinds(open);
  if (asking.size === 0) return tree;
  return tree.map(({ node, ...read }) => ({ ...read, node: { ...node, ...askingStatus(node, asking.get(node.id)) } }));
}

/** The open question of each node. */
export function askedKinds(
  open: readonly { readonly decision: Pick<Decision, 'node' | 'kind'> }[],
): ReadonlyMap<string, DecisionKind> {
  return new Map(open.map(({ decision: { node, kind } }) => [node, kind]));
}

/** The status of a node that waits for a person in the middle of its work, as that of one that waits before it. */
export function askingStatus(
  { status }: { readonly status?: string },
  kind: DecisionKind | undefined,
): { readonly status: 'blocked'; readonly reason: string } | undefined {
  return kind === undefined || status !== 'running'
    ? undefined
    : { status: 'blocked', reason: `approval_required:${kind}` };
}

function indexOf(nodes: ReadonlyMap<string, NodeRow>, id: string): number {
  return nodes.get(id)?.index ?? 0;
}

function viewOf(id: string, nodeId: NodeId, row: NodeRow, status: Json | undefined): TreeNode {
  const known = status === undefined ? undefined : statusRow.parse(status);
  const detail = detailOf(row, known);
  return {
    id,
    nodeId,
    ...defined({ parent: row.parent }),
    index: row.index,
    kind: row.kind,
    label: labelOf(id, row),
    ...(detail !== undefined && { detail: truncateUtf8(detail, DETAIL_MAX_BYTES) }),
    status: known?.status ?? 'idle',
    iteration: known === undefined ? 0 : turnOf(known),
    ...(known?.reason !== undefined && { reason: known.reason }),
    ...defined({ handlers: row.handlers, source: row.source }),
  };
}

const DETAIL_MAX_BYTES = 240;

function turnOf({ iteration, loop }: StatusRow): number {
  return loop === undefined ? iteration : loop.total - loop.base;
}

/** The author's label, name or id if there is one; otherwise the kind. */
function labelOf(id: string, { kind, data }: NodeRow): string {
  const own = /^[0-9a-f]{16}$/.test(id) ? undefined : id;
  return textOf(data.label) ?? textOf(data.name) ?? textOf(data.plan) ?? own ?? kind;
}

function detailOf({ kind, data }: NodeRow, status: StatusRow | undefined): string | undefined {
  // A loop between its iterations is idle, but has started.
  const hasBegun = status !== undefined && (status.status !== 'idle' || turnOf(status) > 0);
  return nodeKindFacts(kind)?.detail(data, hasBegun ? turnOf(status) : undefined);
}
