import { type AnswerBody, defined, type Resolution, type RunId, type WireDecision } from '@signalbox/model';
import { contractNodeId, type Decision } from '@signalbox/runs';
import { contractResolution, toolOfDecision, wordsOfProposal } from './projections/decision-tool.ts';

/** A decision in the contract's form of an approval, together with our own form. */
export function decisionView(run: RunId, decision: Decision): WireDecision {
  const { id, deliveredAt: _, ...kept } = decision;
  const context = wordsOfProposal(decision.proposal);
  return {
    approvalId: id,
    runId: run,
    nodeId: contractNodeId(run, decision.node),
    kind: 'plan',
    tool: toolOfDecision(run, decision),
    ...defined({ context }),
    ...(decision.resolution !== undefined && { resolution: contractResolution(decision.resolution) }),
    decision: kept,
  };
}

/** The full meaning of the contract's short answers; the kind of action is the decision's. */
export function resolutionOf(body: AnswerBody, kind: Decision['kind']): Resolution {
  if ('resolution' in body) return body.resolution;
  const rest = { rationale: body.rationale ?? '', actionKind: actionKinds[kind] };
  switch (body.status) {
    case 'approved':
      return { resolutionType: 'approve', ...rest };
    case 'denied':
      return { resolutionType: 'reject', ...rest };
    case 'modified':
      return { resolutionType: 'modify', modifiedArgs: body.modifiedArgs, ...rest };
  }
}

const actionKinds: Record<Decision['kind'], Resolution['actionKind']> = {
  file_edit: 'update',
  command_exec: 'update',
  external_api: 'update',
  human: 'review',
  choice: 'review',
  confirmation: 'review',
  review: 'review',
};
