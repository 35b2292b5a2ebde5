import * as z from 'zod';
import { agentId, approvalId } from '../ids.ts';
import { text } from '../json.ts';
import { eventEnvelope } from './adapter-event.ts';
import { agentHandle } from './agent-handle.ts';
import { brakeAction, brakedAgent } from './brake.ts';
import { knowledgeSnapshot } from './knowledge.ts';
import { resolution } from './resolution.ts';
import { controlMode } from './scales.ts';

/** A part of the console that shows events; `workspace` on the wire. */
export const consoleArea = z.enum(['briefing', 'queue', 'map', 'brief_editor', 'controls']);
export type ConsoleArea = z.infer<typeof consoleArea>;

const score = z.number().min(0).max(100);

/** What the fleet tells the console, by `type`. It holds trust, so it never goes to an agent. */
export const fleetMessage = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('event'),
    /** Null for events that are only logged. */
    workspace: consoleArea.nullable(),
    secondaryWorkspaces: z.array(consoleArea).readonly(),
    envelope: eventEnvelope,
  }),
  /** Everything, at the beginning of a connection and after a change of the control mode. */
  z.strictObject({
    type: z.literal('state_sync'),
    snapshot: knowledgeSnapshot,
    activeAgents: z.array(agentHandle).readonly(),
    trustScores: z.array(z.strictObject({ agentId, score })).readonly(),
    controlMode,
  }),
  z.strictObject({
    type: z.literal('brake'),
    action: brakeAction,
    affectedAgentIds: z.array(agentId).readonly(),
    /** How each agent obeyed; absent in the first message, which is sent at once. */
    agents: z.array(brakedAgent).readonly().optional(),
  }),
  z.strictObject({
    type: z.literal('trust_update'),
    agentId,
    previousScore: score,
    newScore: score,
    delta: z.number(),
    reason: text,
  }),
  z.strictObject({ type: z.literal('decision_resolved'), decisionId: approvalId, resolution, agentId }),
]);
export type FleetMessage = Readonly<z.infer<typeof fleetMessage>>;
