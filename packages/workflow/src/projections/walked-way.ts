import type { NodeId } from '@signalbox/model';
import { derivePendingStep } from '../session/execution-snapshot.ts';
import type { UserOnlyDependencyReason } from '../session/reasons.ts';
import { formatStepInstanceKey, type StepInstance, type StepInstanceKey } from '../session/step-instance-key.ts';
import type { Gap } from './gaps.ts';
import { type NodeOutput, type NodeOutputs, recapNotes } from './node-outputs.ts';
import { type DagNode, lineage, type RunDag } from './run-dag.ts';
import type { EngineStateOf } from './run-status.ts';

/** A step that was taken, with what the attempt that took it put out. */
export interface WalkedStep {
  readonly nodeId: NodeId;
  readonly step: StepInstance;
  readonly key: StepInstanceKey;
  readonly notes: string | undefined;
  /** Names of artifacts, as they were ordered. */
  readonly artifacts: readonly NodeOutput[];
}

type OutputsByNode = ReadonlyMap<NodeId, NodeOutputs>;

/** The steps on the way to a node, oldest first. Other branches that left the same places are not on it. */
export function wayTo(
  dag: RunDag,
  outputs: OutputsByNode,
  nodeId: NodeId,
  engineStateOf: EngineStateOf,
): readonly WalkedStep[] {
  return stepsAlong(lineage(dag, nodeId).toReversed(), outputs, engineStateOf);
}

/** The steps from a node on to the preferred tip, oldest first; none where the tip does not lie behind the node. */
export function wayBeyond(
  dag: RunDag,
  outputs: OutputsByNode,
  nodeId: NodeId,
  engineStateOf: EngineStateOf,
): readonly WalkedStep[] {
  const path = dag.preferredTip === undefined ? [] : lineage(dag, dag.preferredTip.nodeId).toReversed();
  const start = path.findIndex(node => node.nodeId === nodeId);
  return start < 0 ? [] : stepsAlong(path.slice(start), outputs, engineStateOf);
}

/** The notes that stand at the preferred tip, or that were last put out on the way there. */
export function latestRecap(dag: RunDag, outputs: OutputsByNode): string | undefined {
  if (dag.preferredTip === undefined) return undefined;
  const path = lineage(dag, dag.preferredTip.nodeId);
  for (const [index, node] of path.entries()) {
    const child = path[index - 1];
    const notes = child === undefined ? recapNotes(outputs.get(node.nodeId)) : notesOf(towards(outputs, node, child));
    if (notes !== undefined) return notes;
  }
  return undefined;
}

/** What the person answered at a node, oldest first. */
export function answersAt(
  gaps: readonly Gap[],
  nodeId: NodeId,
): readonly { readonly reason: UserOnlyDependencyReason; readonly answer: 'approved' | 'denied' | 'answered' }[] {
  return gaps.flatMap(({ nodeId: at, reason, answer }) =>
    at === nodeId && answer !== undefined && reason.category === 'user_only_dependency'
      ? [{ reason: reason.detail, answer: answer.kind }]
      : [],
  );
}

function stepsAlong(
  path: readonly DagNode[],
  outputs: OutputsByNode,
  engineStateOf: EngineStateOf,
): readonly WalkedStep[] {
  return path.flatMap((node, index) => {
    const child = path[index + 1];
    const state = engineStateOf(node.snapshotRef);
    const step = state && derivePendingStep(state);
    // A checkpoint stands where its parent does: no step was taken to it.
    if (child?.advancedAt === undefined || step === undefined) return [];
    const given = towards(outputs, node, child);
    const artifacts = given.filter(output => output.outputChannel === 'artifact');
    return [{ nodeId: node.nodeId, step, key: formatStepInstanceKey(step), notes: notesOf(given), artifacts }];
  });
}

/**
 * What was put out at a node by the attempt that led to one of its children: it lies between that attempt and the child,
 * because an attempt is one append. Corrections of it count in its place.
 */
function towards(outputs: OutputsByNode, node: DagNode, child: DagNode): readonly NodeOutput[] {
  const { advancedAt, createdAt } = child;
  if (advancedAt === undefined) return [];
  const history = outputs.get(node.nodeId)?.history ?? [];
  const own = new Set<string>();
  for (const { outputId, appendedAt, supersedes } of history) {
    const isOwn = appendedAt > advancedAt && appendedAt < createdAt;
    if (isOwn || (supersedes !== undefined && own.has(supersedes))) own.add(outputId);
  }
  return history.filter(output => own.has(output.outputId) && !output.isSuperseded);
}

function notesOf(outputs: readonly NodeOutput[]): string | undefined {
  const payload = outputs.findLast(output => output.outputChannel === 'recap')?.payload;
  return payload?.payloadKind === 'notes' ? payload.notesMarkdown : undefined;
}
