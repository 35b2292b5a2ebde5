import { defined, isDenied, type RunId, type Timestamp, timerDue } from '@signalbox/model';
import type { TreeNode } from '@signalbox/plan';
import type { DecisionOfRun, RunReader } from '@signalbox/runs';
import { askedKinds, askingStatus } from '../contract-view/tree-view.ts';
import { INTERRUPTED } from './interrupted-runs.ts';

/** A node's row: without its children, but with its place. Those of imported runs may be any JSON. */
interface NodeRow extends Omit<TreeNode, 'id' | 'status' | 'children'> {
  readonly parent?: string;
  readonly index: number;
}

/** A node with the facts of its row beyond its status. */
export interface ShownTree extends TreeNode {
  /** The time that it waits for. */
  readonly until?: Timestamp;
  /** A person said no, here or in what failed below. */
  readonly isDenied?: true;
  /** Why it does not go on, if it waits for a person or its run was interrupted. */
  readonly reason?: string;
  readonly children: readonly ShownTree[];
}

/**
 * The tree of one frame of a run, with the status of each node; undefined if the run has no such frame. `open` are the run's
 * questions to people, for its current frame.
 */
export async function treeAt(
  reader: RunReader,
  run: RunId,
  frame: number,
  open: readonly DecisionOfRun[] = [],
): Promise<ShownTree | undefined> {
  const asking = askedKinds(open);
  const nodes = (await reader.at(run, 'node', frame)) as ReadonlyMap<string, unknown> as ReadonlyMap<string, NodeRow>;
  const statuses = (await reader.at(run, 'status', frame)) as ReadonlyMap<
    string,
    Pick<TreeNode, 'status'> & { readonly reason?: string }
  >;
  const children = Map.groupBy(nodes.keys(), id => nodes.get(id)?.parent);
  const [root] = children.get(undefined) ?? [];

  const byPlace = (a: string, b: string) => (nodes.get(a)?.index ?? 0) - (nodes.get(b)?.index ?? 0);
  const build = (id: string): ShownTree => {
    const { parent: _, index: __, kind, data, ...node } = (nodes.get(id) ?? {}) as Partial<NodeRow>;
    const { status, reason } = statuses.get(id) ?? {};
    const until = timerDue(reason);
    const below = (children.get(id) ?? []).toSorted(byPlace).map(build);
    return {
      ...node,
      kind: kind ?? 'component',
      data: data ?? {},
      id,
      ...defined({ status }),
      ...(reason === INTERRUPTED && { reason }),
      ...askingStatus(defined({ status }), asking.get(id)),
      ...(until && { until }),
      ...((isDenied(reason) || isDeniedBelow(status, below)) && { isDenied: true }),
      children: below,
    };
  };
  return root === undefined ? undefined : build(root);
}

/** A part of a plan in which nothing failed but what a person denied. */
function isDeniedBelow(status: TreeNode['status'], below: readonly ShownTree[]): boolean {
  const failed = below.filter(node => node.status === 'failed');
  return status === 'failed' && failed.length > 0 && failed.every(node => node.isDenied === true);
}
