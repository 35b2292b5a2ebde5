import { adapterSessionId, agentId, brakeRecord, controlMode, timestamp, uuid } from '@signalbox/model';
import * as z from 'zod';
import { name } from '../fields.ts';

/** A brake, and when the order was given by the clock of the fleet. */
const engagedBrake = brakeRecord.extend({ engagedAt: timestamp });
export type EngagedBrake = Readonly<z.infer<typeof engagedBrake>>;

export const controlState = z.strictObject({
  mode: controlMode,
  /** In the order of their ids; those that were released stay for a while. */
  brakes: z.record(uuid, engagedBrake),
  /** Tools that a person approved for the rest of an agent's session. */
  allowed: z.record(agentId, z.strictObject({ session: adapterSessionId, tools: z.array(name).readonly() })),
});
export type ControlState = Readonly<z.infer<typeof controlState>>;

/** Stricter than any other: what nobody configured asks. */
export const firstControl: ControlState = { mode: 'orchestrator', brakes: {}, allowed: {} };

/** The brakes that hold an agent. */
export function brakesOn(
  { brakes }: ControlState,
  agent: EngagedBrake['agents'][number]['agentId'],
): readonly EngagedBrake[] {
  return Object.values(brakes).filter(
    ({ agents, released }) => released === undefined && agents.some(({ agentId }) => agentId === agent),
  );
}

/** True once an agent was reported silent: whatever it sends from then on is refused. */
export function isSilenced(state: ControlState, agent: EngagedBrake['agents'][number]['agentId']): boolean {
  return brakesOn(state, agent).some(({ agents }) =>
    agents.some(({ agentId, outcome }) => agentId === agent && outcome !== 'pending' && outcome !== 'failed'),
  );
}

/** The brake that keeps an agent from starting, if there is one. */
export function brakeAgainst({ brakes }: ControlState, agent: string, workstream: string): EngagedBrake | undefined {
  return Object.values(brakes).find(({ action: { scope }, released }) => {
    if (released !== undefined) return false;
    switch (scope.type) {
      case 'all':
        return true;
      case 'agent':
        return scope.agentId === agent;
      case 'workstream':
        return scope.workstream === workstream;
    }
    return false;
  });
}
