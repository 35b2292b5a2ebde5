import { adapterSessionId, approvalId, decisionItem, decisionTimeoutPolicy, digest, timestamp } from '@signalbox/model';
import * as z from 'zod';
import { count, tick } from '../fields.ts';
import { nothingSeen, seenIds } from '../pipeline/seen-ids.ts';

/**
 * A decision of an agent, and what its policy needs to know. It is answered once (R7); `session` is the adapter's session that asked, which
 * alone understands an answer by its id.
 */
const fleetDecision = decisionItem.extend({
  session: adapterSessionId,
  /** Asked by the fleet about the agent: the agent is not told, and its trust does not follow from it. */
  isOwn: z.boolean(),
  /** The digest of the subject: an answer to another one is void. */
  proposalHash: digest,
  /** When it was asked for the first time. */
  raisedAt: timestamp.optional(),
  /** The order in which decisions were raised. */
  number: count,
  timeout: decisionTimeoutPolicy,
  /** The tick of its suspension: its timeout stands still from there. */
  suspendedAt: tick.nullable(),
  /** Until when the policy for orphans waits; null if its agent is alive, or once the policy applied. */
  orphanUntil: timestamp.nullable(),
  /** An answer is delivered until it is acknowledged. `impossible`: the agent is gone. */
  delivery: z.enum(['none', 'pending', 'done', 'impossible']),
});
export type FleetDecision = Readonly<z.infer<typeof fleetDecision>>;

export const decisionState = z.strictObject({
  items: z.record(approvalId, fleetDecision),
  raised: count,
  /** Closed ones that are no longer in `items`: their ids cannot be used again. */
  forgotten: seenIds,
});
export type DecisionState = Readonly<z.infer<typeof decisionState>>;

export const noDecisions: DecisionState = { items: {}, raised: 0, forgotten: nothingSeen };

/** Closed decisions that stay in the state, for answers that come twice and for the log on screen. */
export const CLOSED_KEPT = 500;

export function isWaiting({ status }: FleetDecision): boolean {
  return status === 'open' || status === 'suspended';
}

/** The agent that an answer is for, and whose trust follows from it. */
export function responsibleFor({ agentId, reassignedTo }: FleetDecision): FleetDecision['agentId'] {
  return reassignedTo ?? agentId;
}
