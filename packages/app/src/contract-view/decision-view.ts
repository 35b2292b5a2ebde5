import { type AnswerBody, defined, type RunId, type WireDecision } from '@signalbox/model';
import { contractNodeId, type Decision, type Resolution } from '@signalbox/runs';
import { contractResolution, toolOfDecision, wordsOfProposal } from './projections/decision-tool.ts';

/** A decision as the contract shows an approval, and beside it as it is kept. */
export function decisionView(run: RunId, decision: Decision): WireDecision {
  const { id, deliveredAt: _, ...kept } = decision;
  const context = wordsOfProposal(decision.proposal);
  return {
    approvalId: id,
    runId: run,
    nodeId: contractNodeId(run, decision.node),
    kind: 'plan',
    tool: toolOfDecision(decision),
    ...defined({ context }),
    ...(decision.resolution !== undefined && { resolution: contractResolution(decision.resolution) }),
    decision: kept,
  };
}

/** What the contract's short answers mean in full; the decision's kind says what kind of action it is. */
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
