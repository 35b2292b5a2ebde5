import {
  type AgentId,
  type ApprovalId,
  cutAtWord,
  deriveId,
  isJsonObject,
  type Json,
  type JsonObject,
  type Resolution,
} from '@signalbox/model';
import type { AgentQuestion } from '@signalbox/runs';
import * as z from 'zod';
import type { EventOf } from './event-sender.ts';

/** The options of a question that has none of its own. */
const YES_NO = [
  { id: 'yes', label: 'Yes' },
  { id: 'no', label: 'No' },
];

/** The part of a tool call's arguments that is not one of them: everything else that the agent sent about the call. */
const SHOWN = '_shown';

const MAX_TITLE = 500;
const MAX_TEXT = 20_000;

const options = z.array(z.looseObject({ id: z.string().min(1), label: z.string() })).min(1);

/** The same question has the same id, in every life of the agent (R24). */
export function decisionIdOfCall(agent: AgentId, call: string): ApprovalId {
  return deriveId<ApprovalId>('fleet-question', agent, call);
}

/**
 * A question of an agent as the event that asks it. A tool approval has the call's own arguments, so that a person can change them; what
 * else is known of the call is beside them. Undefined if it asks for values, for which the fleet has no form.
 */
export function askedDecision(
  agent: AgentId,
  { call, kind, proposal }: AgentQuestion,
): Extract<EventOf, { type: 'decision' }> | undefined {
  const decisionId = decisionIdOfCall(agent, call);
  const given: JsonObject = isJsonObject(proposal) ? proposal : { proposal };
  if (kind === 'command_exec' || kind === 'file_edit' || kind === 'external_api') {
    const { tool, input, ...shown } = given;
    const args: JsonObject = isJsonObject(input ?? null) ? (input as JsonObject) : {};
    const toolName = typeof tool === 'string' && tool !== '' ? tool.slice(0, 256) : 'other';
    return { type: 'decision', subtype: 'tool_approval', decisionId, toolName, toolArgs: { ...args, [SHOWN]: shown } };
  }
  if ('schema' in given) return undefined;
  const known = options.safeParse(given.options);
  const prompt = typeof given.prompt === 'string' ? given.prompt : JSON.stringify(given);
  const context = given.context === undefined ? '' : `\n\n${JSON.stringify(given.context, null, 2)}`;
  return {
    type: 'decision',
    subtype: 'option',
    decisionId,
    title: cutAtWord(prompt, MAX_TITLE) || 'The agent asks.',
    summary: cutAtWord(`${prompt}${context}`, MAX_TEXT),
    severity: 'medium',
    confidence: 0,
    blastRadius: 'unknown',
    options: (known.success ? known.data : YES_NO).map(({ id, label }) => ({ id, label, description: '' })),
    affectedArtifactIds: [],
    requiresRationale: false,
  };
}

/** The answer as the one who asked expects it: a yes or no is an approval or a rejection, and changed arguments are only these. */
export function answerOf(question: Pick<AgentQuestion, 'kind' | 'proposal'>, resolution: Resolution): Resolution {
  const { resolutionType, chosenOptionId, modifiedArgs } = resolution;
  if (resolutionType === 'modify' && modifiedArgs !== undefined) {
    const { [SHOWN]: _shown, ...args } = modifiedArgs;
    return { ...resolution, modifiedArgs: args };
  }
  const hasOptions =
    isJsonObject(question.proposal) && Array.isArray((question.proposal as { options?: Json }).options);
  if (resolutionType !== 'choose_option' || hasOptions) return resolution;
  const { chosenOptionId: _chosen, ...rest } = resolution;
  return { ...rest, resolutionType: chosenOptionId === 'yes' ? 'approve' : 'reject' };
}
