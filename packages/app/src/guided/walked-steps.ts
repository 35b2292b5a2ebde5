import type { Digest, Json, NodeId } from '@signalbox/model';
import { err, ok, type Result } from '@signalbox/model';
import {
  type CompiledWorkflowSnapshotV1,
  type DagNode,
  type DomainEvent,
  derivePendingStep,
  formatStepInstanceKey,
  lineage,
  type Recovery,
  type RunDag,
  type StepInstance,
  type StepNotes,
  type StepOutput,
} from '@signalbox/workflow';
import type { SessionReader } from './session-files.ts';

type Fault = Extract<ReturnType<SessionReader['state'] | SessionReader['artifact']>, { ok: false }>['error'];

/** What was handed in on the way to a node. */
interface HandedIn {
  readonly from: NodeId;
  notes: string | undefined;
  readonly artifacts: Digest[];
}

/** What each node was reached with. An attempt's outputs stand between its outcome and its edge. */
function handedIn(events: readonly DomainEvent[]): ReadonlyMap<NodeId, HandedIn> {
  const byNode = new Map<NodeId, HandedIn>();
  let open: HandedIn | undefined;
  for (const event of events) {
    if (event.kind === 'advance_recorded') {
      const { outcome } = event.data;
      open = outcome.kind === 'advanced' ? { from: event.scope.nodeId, notes: undefined, artifacts: [] } : undefined;
      if (open !== undefined && outcome.kind === 'advanced') byNode.set(outcome.toNodeId, open);
    } else if (event.kind === 'edge_created') open = undefined;
    else if (event.kind === 'node_output_appended' && open?.from === event.scope.nodeId) {
      const { payload } = event.data;
      if (payload.payloadKind === 'notes') open.notes = payload.notesMarkdown;
      else open.artifacts.push(payload.sha256);
    }
    // A checkpoint has its notes at its own node.
    else if (event.kind === 'node_output_appended' && event.data.payload.payloadKind === 'notes') {
      const { nodeId } = event.scope;
      if (!byNode.has(nodeId)) byNode.set(nodeId, { from: nodeId, notes: undefined, artifacts: [] });
      const known = byNode.get(nodeId);
      if (known?.from === nodeId) known.notes = event.data.payload.notesMarkdown;
    }
  }
  return byNode;
}

/** What an agent that lost the conversation is told of a place: the way there and, off the tip, what came after. */
export function recoveryAt(
  reader: SessionReader,
  events: readonly DomainEvent[],
  dag: RunDag,
  compiled: CompiledWorkflowSnapshotV1,
  nodeId: NodeId,
): Result<Recovery, Fault> {
  const handed = handedIn(events);
  const notesAlong = (path: readonly DagNode[]) => notesOf(reader, compiled, handed, path);
  const way = lineage(dag, nodeId).toReversed();
  const earlier = notesAlong(way);
  if (!earlier.ok) return earlier;
  const children = dag.nodes.get(nodeId)?.children ?? [];
  if (children.length === 0 || dag.preferredTip === undefined) return ok({ earlier: earlier.value });
  const toTip = lineage(dag, dag.preferredTip.nodeId).toReversed();
  const at = toTip.findIndex(node => node.nodeId === nodeId);
  const downstream = at < 0 ? ok([]) : notesAlong(toTip.slice(at));
  if (!downstream.ok) return downstream;
  const preferred = at < 0 ? undefined : toTip[at + 1]?.nodeId;
  const branches = children
    .filter(child => child !== preferred)
    .map(child => ({ label: child, notes: newestNotes(dag, handed, child) ?? '(no notes)' }));
  return ok({ earlier: earlier.value, downstream: downstream.value, branches });
}

/** The outputs of the turn of a loop that a step stands in, oldest first: all that a loop's control may ask for. */
export function outputsOfTurn(
  reader: SessionReader,
  events: readonly DomainEvent[],
  dag: RunDag,
  nodeId: NodeId,
  pending: StepInstance,
): Result<readonly StepOutput[], Fault> {
  const [turn] = pending.loopPath;
  if (turn === undefined) return ok([]);
  const handed = handedIn(events);
  const outputs: StepOutput[] = [];
  const way = lineage(dag, nodeId);
  for (const [index, node] of way.entries()) {
    const before = way[index + 1];
    if (before === undefined) break;
    const given = handed.get(node.nodeId);
    if (given === undefined || given.from === node.nodeId) continue;
    const state = reader.state(before.snapshotRef);
    if (!state.ok) return state;
    const step = derivePendingStep(state.value);
    const outer = step?.loopPath[0];
    if (step === undefined || outer?.loopId !== turn.loopId || outer.iteration !== turn.iteration) break;
    const artifacts: Json[] = [];
    for (const ref of given.artifacts) {
      const artifact = reader.artifact(ref);
      if (!artifact.ok) return err(artifact.error);
      artifacts.push(artifact.value);
    }
    outputs.push({ step, artifacts });
  }
  return ok(outputs.toReversed());
}

/** The notes of the steps that were left along a path. */
function notesOf(
  reader: SessionReader,
  compiled: CompiledWorkflowSnapshotV1,
  handed: ReadonlyMap<NodeId, HandedIn>,
  path: readonly DagNode[],
): Result<readonly StepNotes[], Fault> {
  const all: StepNotes[] = [];
  for (const [index, node] of path.entries()) {
    const from = path[index - 1];
    const notes = handed.get(node.nodeId)?.notes;
    if (from === undefined || notes === undefined) continue;
    const state = reader.state(from.snapshotRef);
    if (!state.ok) return state;
    const step = derivePendingStep(state.value);
    if (step === undefined) continue;
    const title = compiled.steps.find(({ stepId }) => stepId === step.stepId)?.title ?? step.stepId;
    const mark = node.nodeKind === 'checkpoint' ? 'Checkpoint in ' : '';
    all.push({ key: formatStepInstanceKey(step), title: `${mark}${title}`, notes });
  }
  return ok(all);
}

function newestNotes(dag: RunDag, handed: ReadonlyMap<NodeId, HandedIn>, from: NodeId): string | undefined {
  const inBranch = new Set([from]);
  let newest = handed.get(from)?.notes;
  for (const node of dag.nodes.values()) {
    if (node.parentNodeId === null || !inBranch.has(node.parentNodeId)) continue;
    inBranch.add(node.nodeId);
    newest = handed.get(node.nodeId)?.notes ?? newest;
  }
  return newest;
}
