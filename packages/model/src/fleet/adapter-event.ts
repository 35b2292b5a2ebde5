import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { adapterSessionId, agentId, eventId } from '../ids.ts';
import { json, text } from '../json.ts';
import { agentEvent, agentEventType } from './agent-event.ts';
import { count } from './scales.ts';

/**
 * An event as an adapter sends it. Its identity is made once, by the adapter, and is the same however often the event is sent.
 * `runId` is the adapter's session, not a run: a respawn begins another one and counts from 0 again (R23).
 */
export const adapterEvent = z.strictObject({
  sourceEventId: eventId,
  /** Counts the events of an adapter session from 0 without gaps. */
  sourceSequence: count,
  sourceOccurredAt: timestamp,
  runId: adapterSessionId,
  event: agentEvent,
});
export type AdapterEvent = Readonly<z.infer<typeof adapterEvent>>;

/** An event that was received and is in order. */
export const eventEnvelope = adapterEvent.extend({ ingestedAt: timestamp });
export type EventEnvelope = Readonly<z.infer<typeof eventEnvelope>>;

/** The most bytes that one event may have on the wire. */
export const ADAPTER_EVENT_MAX_BYTES = 1_048_576;

/** What became of an event that was checked. `errors` are sentences for people. */
export const eventValidationResult = z.strictObject({
  valid: z.boolean(),
  event: agentEvent.optional(),
  /** As received. */
  raw: json,
  errors: z.array(text.min(1)).readonly().optional(),
  /** True if it was accepted after a change, such as a missing default. */
  repaired: z.boolean().optional(),
});
export type EventValidationResult = Readonly<z.infer<typeof eventValidationResult>>;

/** Which events are wanted, of those that are kept. */
export const eventFilter = z.strictObject({
  agentId: agentId.optional(),
  runId: adapterSessionId.optional(),
  types: z.array(agentEventType).readonly().optional(),
  since: timestamp.optional(),
  limit: z.int().positive().optional(),
});
export type EventFilter = Readonly<z.infer<typeof eventFilter>>;

/** Asks an adapter to send a range of events again, both ends included. */
export const replayRequest = z
  .strictObject({ runId: adapterSessionId, fromSequence: count, toSequence: count })
  .refine(({ fromSequence, toSequence }) => fromSequence <= toSequence, 'must not end before it begins');
export type ReplayRequest = Readonly<z.infer<typeof replayRequest>>;
