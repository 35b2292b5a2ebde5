import { agentId, type TrustProfile, trustProfile } from '@signalbox/model';
import * as z from 'zod';
import { count } from '../fields.ts';

/** The changes that are kept with an agent; all of them are in the log. */
export const TRUST_HISTORY_KEPT = 50;

/** An agent's trust. `decayed` counts the points of decay since its last activity. */
const agentTrust = trustProfile.extend({ decayed: count });
export type AgentTrust = Readonly<z.infer<typeof agentTrust>>;

export const trustState = z.record(agentId, agentTrust);
export type TrustState = Readonly<z.infer<typeof trustState>>;

export const noTrust: TrustState = {};

export function newTrust(agent: TrustProfile['agentId'], score: number, tick: number): AgentTrust {
  return {
    agentId: agent,
    score,
    hypotheticalScore: score,
    samples: 0,
    lastActiveTick: tick,
    history: [],
    decayed: 0,
  };
}
