import {
  type ApprovalResolution,
  deriveId,
  type Json,
  type JsonObject,
  type ToolCall,
  type ToolId,
} from '@signalbox/model';
import type { Decision, Resolution } from '@signalbox/runs';

/** Shows the tool and arguments that a proposal names; any other proposal is the arguments of its kind. */
export function toolOfDecision({ id, kind, proposal }: Pick<Decision, 'id' | 'kind' | 'proposal'>): ToolCall {
  const fields = isObject(proposal) ? proposal : { proposal };
  const name = typeof fields.tool === 'string' && fields.tool !== '' ? fields.tool : kind;
  const args = [fields.args, fields.input].find(isObject) ?? fields;
  return { id: deriveId<ToolId>('decision-tool', id), name, args };
}

/** The question or reason, as text. */
export function wordsOfProposal(proposal: Json): string | undefined {
  if (!isObject(proposal)) return undefined;
  return [proposal.prompt, proposal.why, proposal.reason, proposal.context].find(
    part => typeof part === 'string' && part !== '',
  ) as string | undefined;
}

/** The contract's form of an answer. A choice among options is an approval of the chosen one. */
export function contractResolution({ resolutionType, modifiedArgs }: Resolution): ApprovalResolution {
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

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
