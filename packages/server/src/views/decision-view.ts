import type { Decision, Resolution } from '@signalbox/app/runs';
import { contractNodeId } from '@signalbox/app/runs';
import {
  type AnswerBody,
  type ApprovalResolution,
  deriveId,
  type Json,
  type JsonObject,
  type RunId,
  type ToolCall,
  type ToolId,
  type WireDecision,
} from '@signalbox/model';

/** A decision as the contract shows an approval, and beside it as it is kept. */
export function decisionView(run: RunId, decision: Decision): WireDecision {
  const { id, deliveredAt: _, ...kept } = decision;
  const context = contextOf(decision.proposal);
  return {
    approvalId: id,
    runId: run,
    nodeId: contractNodeId(run, decision.node),
    tool: toolOf(decision),
    ...(context !== undefined && { context }),
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

/** A choice among options is an approval of the one that was chosen. */
function contractResolution({ resolutionType, modifiedArgs }: Resolution): ApprovalResolution {
  switch (resolutionType) {
    case 'approve':
    case 'choose_option':
      return { status: 'approved' };
    case 'reject':
      return { status: 'denied' };
    case 'modify':
      return { status: 'modified', modifiedArgs: modifiedArgs ?? {} };
  }
}

/** A proposal that names a tool and its arguments shows them; any other is the arguments of its kind. */
function toolOf({ id, kind, proposal }: Decision): ToolCall {
  const fields = isObject(proposal) ? proposal : { proposal };
  const name = typeof fields.tool === 'string' && fields.tool !== '' ? fields.tool : kind;
  const args = [fields.args, fields.input].find(isObject) ?? fields;
  return { id: deriveId<ToolId>('decision-tool', id), name, args };
}

/** What was asked or why, in words. */
function contextOf(proposal: Json): string | undefined {
  if (!isObject(proposal)) return undefined;
  return [proposal.prompt, proposal.why, proposal.reason, proposal.context].find(
    part => typeof part === 'string' && part !== '',
  ) as string | undefined;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
