import type { Json, Result, RunId } from '@signalbox/model';
import { type TreeFault, type TreeNode, treeFromJson } from '@signalbox/plan';
import type { RunReader } from '@signalbox/runs';

/** A node as its row has it: without its children, but with its place. */
interface NodeRow {
  readonly kind: string;
  readonly parent?: string;
  readonly index: number;
  readonly [field: string]: Json | undefined;
}

/** The tree of one frame of a run, with the status of each node; undefined where the run has no such frame. */
export async function treeAt(
  reader: RunReader,
  run: RunId,
  frame: number,
): Promise<Result<TreeNode, TreeFault> | undefined> {
  const rows = (await reader.at(run, 'node', frame)) as ReadonlyMap<string, NodeRow>;
  const statuses = (await reader.at(run, 'status', frame)) as ReadonlyMap<string, { readonly status?: string }>;
  const children = Map.groupBy([...rows.keys()], id => rows.get(id)?.parent);
  const [root] = children.get(undefined) ?? [];
  if (root === undefined) return undefined;

  const build = (id: string): Json => {
    const { parent: _, index: __, ...node } = rows.get(id) as NodeRow;
    const status = statuses.get(id)?.status;
    const inside = (children.get(id) ?? []).toSorted((a, b) => (rows.get(a)?.index ?? 0) - (rows.get(b)?.index ?? 0));
    return { ...node, id, ...(status !== undefined && { status }), children: inside.map(build) } as Json;
  };
  return treeFromJson(build(root));
}
