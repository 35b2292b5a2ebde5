import type { NodeId } from '@signalbox/model';
import type { UserAnswer } from '../interpret/user-dependency.ts';
import { derivePendingStep } from '../session/execution-snapshot.ts';
import { formatStepInstanceKey, type StepInstance, type StepInstanceKey } from '../session/step-instance-key.ts';
import type { Gap } from './gaps.ts';
import { type NodeOutput, type NodeOutputs, recapNotes } from './node-outputs.ts';
import { type DagNode, lineage, type RunDag, upwards } from './run-dag.ts';
import type { EngineStateOf } from './run-status.ts';

/** A taken step, with the output of its attempt. */
export interface WalkedStep {
  readonly nodeId: NodeId;
  readonly step: StepInstance;
  readonly key: StepInstanceKey;
  readonly notes: string | undefined;
  /** All current output, with corrections in place of the corrected output. */
  readonly given: readonly NodeOutput[];
  /** Names of artifacts, in order. */
  readonly artifacts: readonly NodeOutput[];
}

type OutputsByNode = ReadonlyMap<NodeId, NodeOutputs>;

/** The steps on the path to a node, newest first, without other branches; computed lazily. */
export function* wayBack(
  dag: RunDag,
  outputs: OutputsByNode,
  nodeId: NodeId,
  engineStateOf: EngineStateOf,
): Generator<WalkedStep> {
  let child: DagNode | undefined;
  for (const node of upwards(dag, nodeId)) {
    const step = child && stepBetween(outputs, node, child, engineStateOf);
    if (step !== undefined) yield step;
    child = node;
  }
}

/** The nodes from one to the preferred tip, inclusive; empty if the tip is not a descendant. */
export function pathBeyond(dag: RunDag, nodeId: NodeId): readonly DagNode[] {
  const path = dag.preferredTip === undefined ? [] : lineage(dag, dag.preferredTip.nodeId).toReversed();
  const start = path.findIndex(node => node.nodeId === nodeId);
  return start < 0 ? [] : path.slice(start);
}

/** The current notes at the preferred tip, or the last ones on the way there. */
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

/** The notes written when a node was created: those of the step that led to it, or its own if it is a checkpoint. */
export function notesInto(outputs: OutputsByNode, node: DagNode, from: DagNode): string | undefined {
  if (node.nodeKind !== 'checkpoint') return notesOf(towards(outputs, from, node));
  // A checkpoint is one append: the node, its notes, its edge.
  return notesOf(standing(outputs, node, ({ appendedAt }) => appendedAt === node.createdAt + 1));
}

/** The artifacts handed in with the step that led to a node, corrections in place. */
export function artifactsInto(outputs: OutputsByNode, node: DagNode, from: DagNode): readonly NodeOutput[] {
  return towards(outputs, from, node).filter(({ outputChannel }) => outputChannel === 'artifact');
}

/** The person's answers at a node, oldest first. */
export function answersAt(gaps: readonly Gap[], nodeId: NodeId): readonly UserAnswer[] {
  return gaps.flatMap(({ nodeId: at, reason, summary, answer }) =>
    at === nodeId && answer !== undefined && reason.category === 'user_only_dependency'
      ? [{ reason: reason.detail, asked: summary, answer: answer.kind }]
      : [],
  );
}

/** Undefined for a checkpoint, which is at its parent's place: no step led to it. */
function stepBetween(
  outputs: OutputsByNode,
  node: DagNode,
  child: DagNode,
  engineStateOf: EngineStateOf,
): WalkedStep | undefined {
  if (child.advancedAt === undefined) return undefined;
  const state = engineStateOf(node.snapshotRef);
  const step = state && derivePendingStep(state);
  if (step === undefined) return undefined;
  const given = towards(outputs, node, child);
  const artifacts = given.filter(output => output.outputChannel === 'artifact');
  return { nodeId: node.nodeId, step, key: formatStepInstanceKey(step), notes: notesOf(given), given, artifacts };
}

/**
 * The output at a node of the attempt that led to one of its children: its events are between that attempt and the child,
 * because an attempt is one append.
 */
function towards(outputs: OutputsByNode, node: DagNode, child: DagNode): readonly NodeOutput[] {
  const { advancedAt, createdAt } = child;
  if (advancedAt === undefined) return [];
  return standing(
    outputs,
    node,
    ({ appendedAt, supersedes }) => supersedes === undefined && appendedAt > advancedAt && appendedAt < createdAt,
  );
}

/** Some current outputs of a node: a correction replaces the corrected output. */
function standing(
  outputs: OutputsByNode,
  node: DagNode,
  isOwn: (output: NodeOutput) => boolean,
): readonly NodeOutput[] {
  const history = outputs.get(node.nodeId)?.history ?? [];
  const own = new Set<string>();
  for (const output of history) {
    if (isOwn(output) || (output.supersedes !== undefined && own.has(output.supersedes))) own.add(output.outputId);
  }
  return history.filter(output => own.has(output.outputId) && !output.isSuperseded);
}

function notesOf(outputs: readonly NodeOutput[]): string | undefined {
  const payload = outputs.findLast(output => output.outputChannel === 'recap')?.payload;
  return payload?.payloadKind === 'notes' ? payload.notesMarkdown : undefined;
}
