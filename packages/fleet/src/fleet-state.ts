import { agentId } from '@signalbox/model';
import * as z from 'zod';
import { agentState, noAgents } from './agents/agent-state.ts';
import { coherenceState, noCoherence } from './coherence/coherence-state.ts';
import { defaultFleetConfig, fleetConfig } from './config.ts';
import { controlState, firstControl } from './control/control-state.ts';
import { decisionState, noDecisions } from './decisions/decision-state.ts';
import { count } from './fields.ts';
import { knowledgeState, noKnowledge } from './knowledge/knowledge-state.ts';
import { emptyPipeline, pipelineState } from './pipeline/pipeline-state.ts';
import { firstTick, tickState } from './ticks/ticks.ts';
import { noTrust, trustState } from './trust/trust-state.ts';

/** What a project knows of its agents: plain data that follows from its facts, and can be computed again from them. */
export const fleetState = z.strictObject({
  v: z.literal(1),
  config: fleetConfig,
  ticks: tickState,
  control: controlState,
  agents: agentState,
  pipeline: pipelineState,
  decisions: decisionState,
  trust: trustState,
  knowledge: knowledgeState,
  coherence: coherenceState,
  /** How many events the fleet made about each agent: they are a session of their own. */
  ownEvents: z.record(agentId, count),
});
export type FleetState = Readonly<z.infer<typeof fleetState>>;

/** A project before anything happened. */
export const emptyFleet: FleetState = {
  v: 1,
  config: defaultFleetConfig,
  ticks: firstTick,
  control: firstControl,
  agents: noAgents,
  pipeline: emptyPipeline,
  decisions: noDecisions,
  trust: noTrust,
  knowledge: noKnowledge,
  coherence: noCoherence,
  ownEvents: {},
};
