import { adapterSessionId, agentId, eventEnvelope, text } from '@signalbox/model';
import * as z from 'zod';
import { count, tick } from '../fields.ts';
import { emptyQuarantine, quarantine } from './quarantine.ts';
import { nothingSeen, seenIds } from './seen-ids.ts';

/** What was unusual about an event that was accepted. */
const eventMarks = z.strictObject({
  /** Paths of the fields that were filled in. */
  repairs: z.array(text).readonly(),
  /** Fields that the contract does not know; they were left out. */
  unknownFields: count,
  /** It arrived after its sequence was given up as lost. */
  isLate: z.boolean(),
  /** Made by the fleet, not by the agent. */
  isOwn: z.boolean(),
});
export type EventMarks = Readonly<z.infer<typeof eventMarks>>;

/** An event that is ready, or waits for those before it. */
const markedEvent = z.strictObject({ envelope: eventEnvelope, marks: eventMarks });
export type MarkedEvent = Readonly<z.infer<typeof markedEvent>>;

/** Sequences, both ends included. */
const sequenceRange = z.strictObject({ from: count, to: count });
export type SequenceRange = Readonly<z.infer<typeof sequenceRange>>;

const intakeCounts = z.strictObject({
  received: count,
  accepted: count,
  repaired: count,
  unknownFields: count,
  rawProvider: count,
  texts: count,
  late: count,
  duplicates: count,
  quarantined: count,
  /** Arrived from an agent that a brake had silenced. */
  refused: count,
  /** Dropped because too many waited. */
  dropped: count,
  /** Sequences that no replay brought back. */
  lost: count,
});
export type IntakeCounts = Readonly<z.infer<typeof intakeCounts>>;

/** The events of one agent. */
const agentIntake = z.strictObject({
  /** The adapter's session whose events are expected; null before the first one. */
  session: adapterSessionId.nullable(),
  /** Sessions that ended, newest last. */
  endedSessions: z.array(adapterSessionId).readonly(),
  /** The next sequence to accept. */
  next: count,
  /** Events beyond a gap, by sequence. */
  held: z.array(markedEvent).readonly(),
  /** When the first of them began to wait. */
  heldSince: tick.nullable(),
  /** The range that was asked for again, and when. */
  replay: z.strictObject({ range: sequenceRange, askedAt: tick }).nullable(),
  /** Given up, newest last. An event of these that arrives after all is accepted. */
  lost: z.array(sequenceRange).readonly(),
  seen: seenIds,
  counts: intakeCounts,
});
export type AgentIntake = Readonly<z.infer<typeof agentIntake>>;

export const pipelineState = z.strictObject({ agents: z.record(agentId, agentIntake), quarantine });
export type PipelineState = Readonly<z.infer<typeof pipelineState>>;

export const emptyPipeline: PipelineState = { agents: {}, quarantine: emptyQuarantine };

export const newIntake: AgentIntake = {
  session: null,
  endedSessions: [],
  next: 0,
  held: [],
  heldSince: null,
  replay: null,
  lost: [],
  seen: nothingSeen,
  counts: {
    received: 0,
    accepted: 0,
    repaired: 0,
    unknownFields: 0,
    rawProvider: 0,
    texts: 0,
    late: 0,
    duplicates: 0,
    quarantined: 0,
    refused: 0,
    dropped: 0,
    lost: 0,
  },
};

export const pipelineConfig = z.strictObject({
  /** Events that wait for an earlier one before it is asked for again. */
  orderWindow: z.int().positive(),
  /** Ticks that they wait before it is asked for again. */
  gapTicks: z.int().positive(),
  /** Ticks that a replay may take before the gap is given up. */
  replayTicks: z.int().positive(),
});
export type PipelineConfig = Readonly<z.infer<typeof pipelineConfig>>;

export const defaultPipelineConfig: PipelineConfig = { orderWindow: 64, gapTicks: 2, replayTicks: 10 };

export function counted(intake: AgentIntake, more: Partial<Record<keyof IntakeCounts, number>>): AgentIntake {
  const counts = { ...intake.counts };
  for (const [name, by] of Object.entries(more) as [keyof IntakeCounts, number][]) counts[name] += by;
  return { ...intake, counts };
}
