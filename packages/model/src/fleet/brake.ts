import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { agentId, approvalId, uuid } from '../ids.ts';
import { text } from '../json.ts';
import { count, name, tick } from './scales.ts';

/** Which agents a brake stops. */
export const brakeScope = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('all') }),
  z.strictObject({ type: z.literal('agent'), agentId }),
  z.strictObject({ type: z.literal('workstream'), workstream: name }),
]);
export type BrakeScope = Readonly<z.infer<typeof brakeScope>>;

/** When a brake ends; `manual` if none is given. */
export const brakeReleaseCondition = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('manual') }),
  z.strictObject({ type: z.literal('timer'), releaseAfterMs: z.int().positive() }),
  /** When this decision is resolved. */
  z.strictObject({ type: z.literal('decision'), decisionId: approvalId }),
]);
export type BrakeReleaseCondition = Readonly<z.infer<typeof brakeReleaseCondition>>;

/** An order to stop agents. It suspends their decisions; only an explicit kill makes orphans (R40). */
export const brakeAction = z.strictObject({
  scope: brakeScope,
  reason: text.min(1),
  behavior: z.enum(['pause', 'kill']),
  /** A person's name, or `system`. */
  initiatedBy: text.min(1),
  timestamp,
  releaseCondition: brakeReleaseCondition.optional(),
});
export type BrakeAction = Readonly<z.infer<typeof brakeAction>>;

/** How one agent obeyed a brake. */
export const brakedAgent = z.strictObject({
  agentId,
  /** Milliseconds from the order to the agent's last sign of life; null until it is silent. */
  silentAfterMs: z.number().nonnegative().nullable(),
  /** What was done: a pause becomes a kill where the plugin cannot pause. */
  outcome: z.enum(['pending', 'paused', 'killed', 'already_stopped', 'failed']),
  /** Events that arrived later; they are refused and counted against the agent. */
  refusedEvents: count,
});
export type BrakedAgent = Readonly<z.infer<typeof brakedAgent>>;

/** A brake from the order to its release. */
export const brakeRecord = z.strictObject({
  id: uuid,
  action: brakeAction,
  engagedAtTick: tick,
  agents: z.array(brakedAgent).readonly(),
  released: z
    .strictObject({ by: text.min(1), at: timestamp, tick, cause: z.enum(['manual', 'timer', 'decision']) })
    .optional(),
});
export type BrakeRecord = Readonly<z.infer<typeof brakeRecord>>;
