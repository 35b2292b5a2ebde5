import {
  type ApprovalResolution,
  deriveId,
  isJsonObject,
  type Json,
  type Resolution,
  type RunId,
  type ToolCall,
  type ToolId,
} from '@signalbox/model';
import type { Decision } from '@signalbox/runs';

/** Shows the tool and arguments that a proposal names; any other proposal is the arguments of its kind. */
export function toolOfDecision(
  run: RunId,
  { id, kind, call, proposal }: Pick<Decision, 'id' | 'kind' | 'call' | 'proposal'>,
): ToolCall {
  const fields = isJsonObject(proposal) ? proposal : { proposal };
  const name = typeof fields.tool === 'string' && fields.tool !== '' ? fields.tool : kind;
  const args = [fields.args, fields.input].find(isJsonObject) ?? fields;
  return { id: isCall(kind) ? toolIdOf(run, call) : deriveId<ToolId>('decision-tool', id), name, args };
}

/** The contract's id of a tool call: the same when it is proposed, asked about, started and completed. */
export function toolIdOf(run: RunId, call: string): ToolId {
  return deriveId<ToolId>('tool-call', run, call);
}

function isCall(kind: Decision['kind']): boolean {
  return kind === 'file_edit' || kind === 'command_exec' || kind === 'external_api';
}

/** The question or reason, as text. */
export function wordsOfProposal(proposal: Json): string | undefined {
  if (!isJsonObject(proposal)) return undefined;
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
