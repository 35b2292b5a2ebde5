import {
  type ApprovalId,
  type ApprovalResolution,
  type Artifact,
  type ArtifactId,
  artifactRefOf,
  deriveId,
  type Edge,
  type EdgeId,
  type Node,
  type NodeId,
  type RunId,
  type Timestamp,
  type ToolCall,
  type ToolId,
} from '@signalbox/model';
import type { NodeKind, OutputPayload } from '@signalbox/workflow/events';

/** The contract's nodes, edges, artifacts and approvals of a guided run (R20). */

/** The place of a session's event in its run, and facts that the event lacks. */
export interface GuidedFacts {
  readonly run: RunId;
  readonly seq: number;
  readonly at: Timestamp;
  /** The step pending at a place; `complete` at the end of the workflow. */
  stepAt(node: NodeId): { readonly title: string } | 'complete' | undefined;
}

export interface NodeFacts {
  readonly kind: NodeKind;
  readonly label: string;
  readonly status: Node['status'];
  readonly summary: string;
  readonly at: Timestamp;
}

/** An external agent walks the step: its permissions are unknown to us, and a person can be asked. */
export function guidedNodeFields({ kind, label, status, summary, at }: NodeFacts): Omit<Node, 'id' | 'runId'> {
  const isStep = kind !== 'checkpoint';
  return {
    label,
    roleTemplate: kind,
    provider: 'custom',
    plugin: 'guided',
    status,
    summary,
    lastActivityAt: at,
    capabilities: {
      spawnNodes: false,
      writeCode: isStep,
      writeDocs: isStep,
      runCommands: isStep,
      delegateOnly: false,
    },
    permissions: { cliPermissionsMode: 'gated', spawnRequiresApproval: true },
    session: { sessionId: '', resetCommands: [] },
    inboxCount: 0,
  };
}

export function guidedEdge(run: RunId, from: NodeId, to: NodeId, kind: 'acked_step' | 'checkpoint'): Edge {
  return {
    id: deriveId<EdgeId>('guided-edge', run, from, to, kind),
    from,
    to,
    bidirectional: false,
    type: 'handoff',
    label: kind === 'checkpoint' ? 'checkpoint' : 'task',
  };
}

export function guidedArtifactId(outputId: string): ArtifactId {
  return deriveId<ArtifactId>('guided-artifact', outputId);
}

export function guidedArtifact(
  run: RunId,
  node: NodeId,
  outputId: string,
  payload: Extract<OutputPayload, { readonly payloadKind: 'artifact_ref' }>,
  createdAt: Timestamp,
): Artifact {
  const id = guidedArtifactId(outputId);
  const { contentType } = payload;
  return { id, runId: run, nodeId: node, kind: 'report', name: contentType, path: artifactRefOf(id), createdAt };
}

/** A gap is the decision of the same id. */
export function approvalOfGap(gapId: string): ApprovalId {
  return gapId as ApprovalId;
}

export function toolOfGap({ gapId, detail, summary }: { gapId: string; detail: string; summary: string }): ToolCall {
  return { id: deriveId<ToolId>('guided-gap', gapId), name: detail, args: { summary } };
}

/** Requested words go into the arguments. Without an answer, a later attempt supplied what was missing. */
export function answerOfGap(
  answer: { readonly kind: 'approved' | 'denied' } | { readonly kind: 'answered'; readonly value: string } | undefined,
): ApprovalResolution {
  if (answer?.kind === 'answered') return { status: 'modified', modifiedArgs: { value: answer.value } };
  return { status: answer?.kind === 'denied' ? 'denied' : 'approved' };
}
