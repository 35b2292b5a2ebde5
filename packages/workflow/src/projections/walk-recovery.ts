import type { NodeId } from '@signalbox/model';
import type { CompiledWorkflowSnapshotV1 } from '../compile/compiled-workflow.ts';
import { indexWorkflow } from '../interpret/workflow-index.ts';
import type { Recovery, StepNotes } from '../prompts/recovery.ts';
import { derivePendingStep } from '../session/execution-snapshot.ts';
import { formatStepInstanceKey } from '../session/step-instance-key.ts';
import type { NodeOutputs } from './node-outputs.ts';
import { type DagNode, lineage, type RunDag } from './run-dag.ts';
import type { EngineStateOf } from './run-status.ts';
import { notesInto, pathBeyond } from './walked-way.ts';

/** What an agent that lost the conversation needs to know about a place: the path there and, off the tip, what came after. */
export function projectRecovery(
  dag: RunDag,
  outputs: ReadonlyMap<NodeId, NodeOutputs>,
  compiled: CompiledWorkflowSnapshotV1,
  nodeId: NodeId,
  engineStateOf: EngineStateOf,
): Recovery {
  const { steps } = indexWorkflow(compiled);
  const notesAlong = (path: readonly DagNode[]) =>
    path.flatMap((node, index): readonly StepNotes[] => {
      const from = path[index - 1];
      const notes = from && notesInto(outputs, node, from);
      const state = from && engineStateOf(from.snapshotRef);
      const step = state && derivePendingStep(state);
      if (notes === undefined || step === undefined) return [];
      const title = steps.get(step.stepId)?.title ?? step.stepId;
      const mark = node.nodeKind === 'checkpoint' ? 'Checkpoint in ' : '';
      return [{ key: formatStepInstanceKey(step), title: `${mark}${title}`, notes }];
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
