import type { Digest, NodeId } from '@signalbox/model';
import type { CompiledWorkflowSnapshotV1 } from '../compile/compiled-workflow.ts';
import { indexWorkflow } from '../interpret/workflow-index.ts';
import type { Recovery, StepNotes } from '../prompts/recovery.ts';
import { derivePendingStep } from '../session/execution-snapshot.ts';
import { formatStepInstanceKey } from '../session/step-instance-key.ts';
import type { NodeOutputs } from './node-outputs.ts';
import { type DagNode, lineage, type RunDag } from './run-dag.ts';
import type { EngineStateOf } from './run-status.ts';
import { artifactsInto, notesInto, pathBeyond } from './walked-way.ts';

/** What an agent that lost the conversation needs to know about a place: the path there and, off the tip, what came after. */
export function projectRecovery(
  dag: RunDag,
  outputs: ReadonlyMap<NodeId, NodeOutputs>,
  compiled: CompiledWorkflowSnapshotV1,
  nodeId: NodeId,
  engineStateOf: EngineStateOf,
  artifactOf: ArtifactOf = () => undefined,
): Recovery {
  const { steps } = indexWorkflow(compiled);
  const notesAlong = (path: readonly DagNode[]) =>
    path.flatMap((node, index): readonly StepNotes[] => {
      const from = path[index - 1];
      const notes = from && notesInto(outputs, node, from);
      const artifacts = from === undefined ? [] : artifactTexts(outputs, node, from, artifactOf);
      const state = from && engineStateOf(from.snapshotRef);
      const step = state && derivePendingStep(state);
      if ((notes === undefined && artifacts.length === 0) || step === undefined) return [];
      const title = steps.get(step.stepId)?.title ?? step.stepId;
      const mark = node.nodeKind === 'checkpoint' ? 'Checkpoint in ' : '';
      return [{ key: formatStepInstanceKey(step), title: `${mark}${title}`, notes: notes ?? '', artifacts }];
    });
  const earlier = notesAlong(lineage(dag, nodeId).toReversed());
  const children = dag.nodes.get(nodeId)?.children ?? [];
  if (children.length === 0 || dag.preferredTip === undefined) return { earlier };
  const beyond = pathBeyond(dag, nodeId);
  const branches = children
    .filter(child => child !== beyond[1]?.nodeId)
    .map(child => ({ label: child, notes: newestNotes(dag, outputs, child) ?? '(no notes)' }));
  return { earlier, downstream: notesAlong(beyond), branches };
}

/** The text of a stored artifact; undefined if it cannot be read. */
export type ArtifactOf = (sha256: Digest) => string | undefined;

function artifactTexts(
  outputs: ReadonlyMap<NodeId, NodeOutputs>,
  node: DagNode,
  from: DagNode,
  artifactOf: ArtifactOf,
): readonly string[] {
  return artifactsInto(outputs, node, from).flatMap(({ payload }) =>
    payload.payloadKind === 'artifact_ref' ? [artifactOf(payload.sha256) ?? `${payload.sha256}, not readable`] : [],
  );
}

/** The last notes in a branch, including the step that leads into it. */
function newestNotes(dag: RunDag, outputs: ReadonlyMap<NodeId, NodeOutputs>, first: NodeId): string | undefined {
  const inBranch = new Set<NodeId>();
  let newest: string | undefined;
  for (const node of dag.nodes.values()) {
    if (node.parentNodeId === null || !(node.nodeId === first || inBranch.has(node.parentNodeId))) continue;
    inBranch.add(node.nodeId);
    const from = dag.nodes.get(node.parentNodeId);
    newest = (from && notesInto(outputs, node, from)) ?? newest;
  }
  return newest;
}
