import type { BriefChanges } from '@signalbox/model';
import {
  type AgentBrief,
  type AgentId,
  agentBrief,
  type ControlMode,
  type EscalationProtocol,
  err,
  faultsOf,
  type KnowledgeSnapshot,
  ok,
  type ProjectBrief,
  type Result,
  shadowingKeys,
} from '@signalbox/model';
import { joinedProtocol } from '../control/mode-protocols.ts';

/** What the fleet adds to a brief. */
export interface BriefFrame {
  readonly agentId: AgentId;
  readonly mode: ControlMode;
  readonly project: ProjectBrief;
  readonly snapshot: KnowledgeSnapshot;
}

const NO_RULES: EscalationProtocol = { alwaysEscalate: [], escalateWhen: [], neverEscalate: [] };

/**
 * A whole brief: the template, what a person changed of it, and what only the fleet knows. Fields are replaced, not merged, so that a person
 * can take something out of a list. The mode and its rules are the project's; the agent's own can only add to them (R21).
 */
export function assembleBrief(
  template: BriefChanges,
  changes: BriefChanges,
  { agentId, mode, project, snapshot }: BriefFrame,
): Result<
  { readonly brief: AgentBrief; readonly ownProtocol: EscalationProtocol },
  { readonly code: 'brief_invalid'; readonly reason: string }
> {
  const merged = {
    readableWorkstreams: [],
    constraints: [],
    allowedTools: [],
    description: '',
    ...template,
    ...changes,
  };
  const ownProtocol = merged.escalationProtocol ?? NO_RULES;
  const parsed = agentBrief.safeParse({
    ...merged,
    agentId,
    controlMode: mode,
    escalationProtocol: joinedProtocol(mode, ownProtocol),
    projectBrief: project,
    knowledgeSnapshot: snapshot,
  });
  if (parsed.success) {
    const shadowed = shadowingKeys(parsed.data.providerConfig ?? {});
    if (shadowed.length === 0) return ok({ brief: parsed.data, ownProtocol });
    return err({
      code: 'brief_invalid',
      reason: `providerConfig may not hold fields of the brief: ${shadowed.join(', ')}.`,
    });
  }
  const [fault] = faultsOf(parsed.error.issues, merged);
  return err({ code: 'brief_invalid', reason: fault?.sentence ?? 'The brief is not valid.' });
}
