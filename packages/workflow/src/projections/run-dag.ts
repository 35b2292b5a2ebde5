import type { Digest, EventId, NodeId, RunId } from '@signalbox/model';
import type { DomainEvent } from '../session/domain-event.ts';
import type { NodeKind } from '../session/event-data.ts';
import { perHistory } from './per-history.ts';

/** A run as a graph of places. Branches are its leaves; nothing else records them. */
export interface RunDag {
  readonly runId: RunId;
  /** Undefined if the history has the run's nodes but not its start. */
  readonly workflow: { readonly workflowId: string; readonly workflowHash: Digest } | undefined;
  /** In creation order. */
  readonly nodes: ReadonlyMap<NodeId, DagNode>;
  readonly edges: readonly DagEdge[];
  /** The run's current leaf; undefined for a run without nodes. */
  readonly preferredTip: DagTip | undefined;
}

export interface DagNode {
  readonly nodeId: NodeId;
  readonly nodeKind: NodeKind;
  readonly parentNodeId: NodeId | null;
  readonly workflowHash: Digest;
  readonly snapshotRef: Digest;
  readonly createdAt: number;
  /** The index of the attempt that led here; undefined for a root or a checkpoint. */
  readonly advancedAt: number | undefined;
  readonly children: readonly NodeId[];
}

interface DagEdge {
  readonly edgeKind: 'acked_step' | 'checkpoint';
  readonly fromNodeId: NodeId;
  readonly toNodeId: NodeId;
  readonly cause: { readonly kind: string; readonly eventId: EventId };
}

interface DagTip {
  readonly nodeId: NodeId;
  /** The highest index of an event that touches the node or an ancestor. */
  readonly lastActivity: number;
}

/** The graphs of all runs of a history, in the order of their first events. Total: any list of events has one. */
export function projectRunDags(events: readonly DomainEvent[]): ReadonlyMap<RunId, RunDag> {
  return graphsOf(events).dags;
}

interface Graphs {
  readonly drafts: ReadonlyMap<RunId, DagDraft>;
  readonly dags: ReadonlyMap<RunId, RunDag>;
}

const graphsOf = perHistory<Graphs>((before, events) => {
  const drafts = new Map(before?.drafts);
  const dags = new Map(before?.dags);
  const touched = new Map<RunId, DagDraft>();
  const draftOf = (runId: RunId): DagDraft => {
    const known = touched.get(runId);
    if (known !== undefined) return known;
    const fresh = copyOf(drafts.get(runId));
    touched.set(runId, fresh);
    return fresh;
  };
  for (const event of events) record(event, draftOf);
  for (const [runId, draft] of touched) {
    drafts.set(runId, draft);
    dags.set(runId, finish(runId, draft));
  }
  return { drafts, dags };
});

/** A node and its ancestors, nearest first. */
export function lineage(dag: RunDag, nodeId: NodeId): readonly DagNode[] {
  return [...upwards(dag, nodeId)];
}

/** The same, computed lazily. */
export function* upwards(dag: RunDag, nodeId: NodeId): Generator<DagNode> {
  const passed = new Set<NodeId>();
  let next: NodeId | null = nodeId;
  while (next !== null && !passed.has(next)) {
    const node: DagNode | undefined = dag.nodes.get(next);
    if (node === undefined) return;
    passed.add(next);
    yield node;
    next = node.parentNodeId;
  }
}

interface DagDraft {
  workflow: RunDag['workflow'];
  readonly nodes: Map<NodeId, DagNode>;
  readonly edges: DagEdge[];
  /** The last event that touches a node. */
  readonly activity: Map<NodeId, number>;
  /** The attempt that led to a node. It is recorded before the node. */
  readonly attempts: Map<NodeId, number>;
  /** Nodes recorded before their parents. */
  readonly early: Map<NodeId, readonly NodeId[]>;
}

/** Only its creator modifies a draft: a longer history modifies a copy. */
function copyOf(draft: DagDraft | undefined): DagDraft {
  return {
    workflow: draft?.workflow,
    nodes: new Map(draft?.nodes),
    edges: [...(draft?.edges ?? [])],
    activity: new Map(draft?.activity),
    attempts: new Map(draft?.attempts),
    early: new Map(draft?.early),
  };
}

function record(event: DomainEvent, draftOf: (runId: RunId) => DagDraft): void {
  const touch = (draft: DagDraft, nodeId: NodeId) =>
    draft.activity.set(nodeId, Math.max(draft.activity.get(nodeId) ?? -1, event.eventIndex));
  switch (event.kind) {
    case 'run_started': {
      const { workflowId, workflowHash } = event.data;
      draftOf(event.scope.runId).workflow ??= { workflowId, workflowHash };
      return;
    }
    case 'node_created': {
      const draft = draftOf(event.scope.runId);
      const { nodeId } = event.scope;
      if (!draft.nodes.has(nodeId)) {
        const advancedAt = draft.attempts.get(nodeId);
        const children = draft.early.get(nodeId) ?? [];
        draft.nodes.set(nodeId, { nodeId, ...event.data, createdAt: event.eventIndex, advancedAt, children });
        addToParent(draft, nodeId, event.data.parentNodeId);
      }
      touch(draft, nodeId);
      return;
    }
    case 'advance_recorded': {
      const { outcome } = event.data;
      if (outcome.kind === 'advanced') draftOf(event.scope.runId).attempts.set(outcome.toNodeId, event.eventIndex);
      return;
    }
    case 'edge_created': {
      const draft = draftOf(event.scope.runId);
      const { edgeKind, fromNodeId, toNodeId, cause } = event.data;
      draft.edges.push({ edgeKind, fromNodeId, toNodeId, cause });
      touch(draft, fromNodeId);
      touch(draft, toNodeId);
      return;
    }
    case 'node_output_appended':
    case 'gap_recorded':
    case 'capability_observed':
    case 'preferences_changed':
    case 'divergence_recorded':
      touch(draftOf(event.scope.runId), event.scope.nodeId);
      return;
    default:
      return;
  }
}

function addToParent({ nodes, early }: DagDraft, nodeId: NodeId, parentNodeId: NodeId | null): void {
  if (parentNodeId === null) return;
  const parent = nodes.get(parentNodeId);
  if (parent === undefined) early.set(parentNodeId, [...(early.get(parentNodeId) ?? []), nodeId]);
  else nodes.set(parentNodeId, { ...parent, children: [...parent.children, nodeId] });
}

function finish(runId: RunId, { workflow, nodes, edges, activity }: DagDraft): RunDag {
  let tip: { readonly preferred: DagTip | undefined } | undefined;
  return {
    runId,
    workflow,
    nodes,
    edges,
    // Most callers never need the tip.
    get preferredTip() {
      tip ??= { preferred: preferredTip(nodes, activity) };
      return tip.preferred;
    },
  };
}

/** The leaf with the latest activity in its history; then the youngest; then the one whose id sorts first. */
function preferredTip(nodes: ReadonlyMap<NodeId, DagNode>, activity: ReadonlyMap<NodeId, number>): DagTip | undefined {
  const reach = new Map<NodeId, number>();
  let best: { readonly node: DagNode; readonly lastActivity: number } | undefined;
  // A parent is created before its children, so one pass propagates its activity.
  for (const node of nodes.values()) {
    const inherited = node.parentNodeId === null ? -1 : (reach.get(node.parentNodeId) ?? -1);
    const lastActivity = Math.max(activity.get(node.nodeId) ?? -1, inherited);
    reach.set(node.nodeId, lastActivity);
    if (node.children.length > 0) continue;
    if (best === undefined || isPreferred({ node, lastActivity }, best)) best = { node, lastActivity };
  }
  return best === undefined ? undefined : { nodeId: best.node.nodeId, lastActivity: best.lastActivity };
}

interface Leaf {
  readonly node: DagNode;
  readonly lastActivity: number;
}

function isPreferred(leaf: Leaf, to: Leaf): boolean {
  if (leaf.lastActivity !== to.lastActivity) return leaf.lastActivity > to.lastActivity;
  if (leaf.node.createdAt !== to.node.createdAt) return leaf.node.createdAt > to.node.createdAt;
  return leaf.node.nodeId < to.node.nodeId;
}
