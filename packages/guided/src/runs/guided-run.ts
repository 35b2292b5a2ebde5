import {
  type Artifact,
  CONTRACT_VERSION,
  type Digest,
  deriveId,
  type Edge,
  guidedToContractRunStatus,
  type Node,
  type NodeId,
  type NodeStatus,
  type RunSnapshot,
  type RunStatus,
  type RunSummary,
  type Timestamp,
  type TreeNode,
  toContractNodeStatus,
  type WireDecision,
} from '@signalbox/model';
import {
  type CompiledWorkflowSnapshotV1,
  type DomainEvent,
  derivePendingStep,
  type EngineState,
  formatStepInstanceKey,
  projectNodeOutputs,
  projectRunContexts,
  type RunDag,
} from '@signalbox/workflow';
import type { RunSummary as IndexedRun, SessionSummary } from '../sessions/session-summary.ts';
import { guidedArtifact, guidedEdge, guidedNodeFields } from './projections/guided-parts.ts';

const storedStatus: Record<IndexedRun['status'], RunStatus> = {
  in_progress: 'running',
  blocked: 'waiting',
  complete: 'completed',
  complete_with_gaps: 'completed',
};

/** A guided run in a list (R2, R20). */
export function guidedSummary(session: SessionSummary, run: IndexedRun): RunSummary {
  const { runId: id, startedAt, writtenAt, workflowId, workflowHash } = run;
  const status = storedStatus[run.status];
  const isOver = status === 'completed';
  return {
    id,
    contractVersion: CONTRACT_VERSION,
    status: guidedToContractRunStatus(run.status),
    phase: isOver ? 'DONE' : run.preferredTip === null ? 'BOOT' : 'EXECUTE',
    mode: 'INTERACTIVE',
    globalMode: 'IMPLEMENTATION',
    createdAt: startedAt,
    updatedAt: writtenAt,
    kind: 'guided',
    guided: {
      sessionId: session.sessionId,
      status: run.status,
      workflowId,
      workflowHash,
      pendingStep: run.pendingStep,
      health: session.health,
    },
    record: {
      id,
      driver: 'workflow',
      name: run.name ?? workflowId ?? id,
      tags: [],
      status,
      ...(workflowId !== null && { entry: workflowId }),
      limits: {},
      frames: 0,
      nextSeq: run.events,
      head: session.head,
      createdAt: startedAt,
      updatedAt: writtenAt,
      startedAt,
      ...(isOver && { endedAt: writtenAt }),
    },
    // An external agent walks it, not a process of ours.
    driven: false,
    openDecisions: session.gaps.filter(gap => gap.runId === id && gap.status === 'open').length,
  };
}

export interface RunParts {
  readonly summary: RunSummary;
  readonly dag: RunDag;
  readonly events: readonly DomainEvent[];
  readonly compiled: CompiledWorkflowSnapshotV1 | undefined;
  readonly decisions: readonly WireDecision[];
  stateOf(ref: Digest): EngineState | undefined;
  timeOf(index: number): Timestamp;
}

/** A guided run in its current state: every reached step is a node, every transition between steps an edge. */
export function guidedSnapshot(parts: RunParts): RunSnapshot {
  const { summary, dag, events, decisions } = parts;
  const { id: run } = summary;
  const places = placesOf(parts);
  const edges = dag.edges
    .filter(({ fromNodeId, toNodeId }) => places.has(fromNodeId) && places.has(toNodeId))
    .map(({ fromNodeId, toNodeId, edgeKind }): [string, Edge] => {
      const edge = guidedEdge(run, fromNodeId, toNodeId, edgeKind);
      return [edge.id, edge];
    });
  return {
    ...summary,
    input: projectRunContexts(events).get(run)?.context ?? {},
    nodes: Object.fromEntries([...places].map(([id, place]) => [id, nodeOf(parts, place)])),
    edges: Object.fromEntries(edges),
    artifacts: Object.fromEntries(artifactsOf(parts, places)),
    tree: treeOf(parts, places),
    decisions,
    tasks: [],
  };
}

/** A place where a step is or was pending. */
interface Place {
  readonly id: NodeId;
  readonly kind: 'step' | 'checkpoint' | 'blocked_attempt';
  readonly key: string;
  readonly label: string;
  readonly status: NodeStatus;
  readonly reason?: string;
  readonly at: Timestamp;
}

/** The end of a workflow is not a step. */
function placesOf({
  dag,
  summary,
  stateOf,
  timeOf,
  compiled,
  decisions,
  events,
}: RunParts): ReadonlyMap<NodeId, Place> {
  const tip = dag.preferredTip;
  const moved = lastMoves(events);
  const places = new Map<NodeId, Place>();
  for (const node of dag.nodes.values()) {
    const state = stateOf(node.snapshotRef);
    if (state?.kind === 'complete') continue;
    const step = state && derivePendingStep(state);
    const isTip = node.nodeId === tip?.nodeId;
    const isBlocked = isTip && summary.guided?.status === 'blocked';
    const status = ((): NodeStatus => {
      if (
        node.nodeKind === 'checkpoint' ||
        node.children.some(child => dag.nodes.get(child)?.nodeKind !== 'checkpoint')
      ) {
        return 'succeeded';
      }
      if (isBlocked) return 'blocked';
      return isTip || node.children.includes(tip?.nodeId ?? node.nodeId) ? 'running' : 'idle';
    })();
    const asked = decisions.find(({ nodeId }) => nodeId === node.nodeId);
    places.set(node.nodeId, {
      id: node.nodeId,
      kind: node.nodeKind,
      key: step === undefined ? node.nodeKind : formatStepInstanceKey(step),
      label: compiled?.steps.find(({ stepId }) => stepId === step?.stepId)?.title ?? step?.stepId ?? node.nodeKind,
      status,
      ...(isBlocked && { reason: asked?.context ?? 'what was handed in lacks something' }),
      at: timeOf(moved.get(node.nodeId) ?? node.createdAt),
    });
  }
  return places;
}

function lastMoves(events: readonly DomainEvent[]): ReadonlyMap<NodeId, number> {
  const moved = new Map<NodeId, number>();
  for (const event of events) {
    if ('scope' in event && event.scope !== undefined && 'nodeId' in event.scope) {
      moved.set(event.scope.nodeId, event.eventIndex);
    }
  }
  return moved;
}

function nodeOf({ summary }: RunParts, { id, kind, label, status, reason, at }: Place): Node {
  return {
    id,
    runId: summary.id,
    ...guidedNodeFields({
      kind,
      label,
      status: toContractNodeStatus(status),
      summary: reason === undefined ? status : `${status}: ${reason}`,
      at,
    }),
  };
}

function artifactsOf(
  { events, summary, timeOf }: RunParts,
  places: ReadonlyMap<NodeId, Place>,
): readonly [string, Artifact][] {
  return [...projectNodeOutputs(events)].flatMap(([node, { history }]) =>
    history.flatMap(({ outputId, payload, appendedAt, runId }): [string, Artifact][] => {
      if (payload.payloadKind !== 'artifact_ref' || runId !== summary.id || !places.has(node)) return [];
      const artifact = guidedArtifact(summary.id, node, outputId, payload, timeOf(appendedAt));
      return [[artifact.id, artifact]];
    }),
  );
}

/** The workflow with the reached places, in the order of their creation, and the remaining steps. */
function treeOf({ summary, compiled }: RunParts, places: ReadonlyMap<NodeId, Place>): readonly TreeNode[] {
  const reached = [...places.values()];
  const keys = new Set(reached.map(({ key }) => key.split('::').at(-1)));
  const ahead = (compiled?.steps ?? []).filter(({ stepId }) => !keys.has(stepId));
  const isOver = summary.guided?.status === 'complete' || summary.guided?.status === 'complete_with_gaps';
  const root = 'workflow';
  return [
    {
      id: root,
      nodeId: deriveId<NodeId>('guided-workflow', summary.id),
      index: 0,
      kind: 'workflow',
      label: summary.record.name,
      status: isOver ? 'succeeded' : summary.guided?.status === 'blocked' ? 'blocked' : 'running',
      iteration: 0,
    },
    ...reached.map(
      ({ id, kind, label, key, status, reason }, index): TreeNode => ({
        id,
        nodeId: id,
        parent: root,
        index,
        kind,
        label,
        detail: key,
        status,
        iteration: iterationOf(key),
        ...(reason !== undefined && { reason }),
      }),
    ),
    ...ahead.map(
      ({ stepId, title }, index): TreeNode => ({
        id: stepId,
        nodeId: deriveId<NodeId>('guided-step', summary.id, stepId),
        parent: root,
        index: reached.length + index,
        kind: 'step',
        label: title,
        status: isOver ? 'skipped' : 'idle',
        iteration: 0,
      }),
    ),
  ];
}

/** `outer@0/inner@2::triage` is in iteration 2 of its innermost loop. */
function iterationOf(key: string): number {
  return Number(/@(\d+)::/.exec(key)?.[1] ?? 0);
}
