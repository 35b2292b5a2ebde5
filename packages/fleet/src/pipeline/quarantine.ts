import {
  type AgentId,
  agentId,
  deriveId,
  type EventId,
  eventId,
  type Json,
  type Timestamp,
  text,
  timestamp,
  truncateUtf8,
  utf8Length,
} from '@signalbox/model';
import * as z from 'zod';
import { count } from '../fields.ts';

/** The most messages that are kept, and the most bytes of each. */
const QUARANTINE_KEPT = 200;
const QUARANTINE_RAW_BYTES = 16_384;

/** A message that could not be used, with why. */
const quarantinedMessage = z.strictObject({
  id: eventId,
  agentId,
  at: timestamp,
  reason: text.min(1),
  errors: z.array(text).readonly(),
  /** As received, cut to 16 kB. */
  raw: text,
  /** The bytes of the whole message. */
  rawBytes: count,
});
export type QuarantinedMessage = Readonly<z.infer<typeof quarantinedMessage>>;

/** Oldest first. `discarded` counts those that made room for newer ones. */
export const quarantine = z.strictObject({
  kept: z.array(quarantinedMessage).readonly(),
  total: count,
  discarded: count,
});
export type Quarantine = Readonly<z.infer<typeof quarantine>>;

export const emptyQuarantine: Quarantine = { kept: [], total: 0, discarded: 0 };

export interface Refusal {
  readonly agentId: AgentId;
  readonly at: Timestamp;
  readonly payload: Json;
  readonly reason: string;
  readonly errors: readonly string[];
}

/** The quarantine with one message more, and that message. */
export function quarantined(before: Quarantine, { payload, ...refusal }: Refusal): [Quarantine, QuarantinedMessage] {
  const whole = (typeof payload === 'string' ? payload : JSON.stringify(payload)).toWellFormed();
  const message: QuarantinedMessage = {
    id: deriveId<EventId>('quarantined', refusal.agentId, before.total),
    agentId: refusal.agentId,
    at: refusal.at,
    reason: refusal.reason.toWellFormed(),
    errors: refusal.errors.slice(0, 20).map(error => error.toWellFormed()),
    raw: truncateUtf8(whole, QUARANTINE_RAW_BYTES),
    rawBytes: utf8Length(whole),
  };
  const all = [...before.kept, message];
  const kept = all.slice(-QUARANTINE_KEPT);
  return [{ kept, total: before.total + 1, discarded: before.discarded + all.length - kept.length }, message];
}
