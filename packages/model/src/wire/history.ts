import * as z from 'zod';
import { timestamp } from '../clock.ts';
import { digest } from '../digest.ts';
import { eventId, runId } from '../ids.ts';
import { json, text } from '../json.ts';
import { wireTask } from './run-snapshot.ts';

/** A stored event of a run: the envelope, with fields that differ by type beside it. */
const wireEvent = z.looseObject({
  v: z.int().positive(),
  id: eventId,
  runId,
  seq: z.int().nonnegative(),
  ts: timestamp,
  type: text.min(1),
});
export type WireEvent = z.infer<typeof wireEvent>;

/** With the head of the run's chain after the event. */
export const storedEvent = z.object({ event: wireEvent, hash: digest });
export type WireStoredEvent = z.infer<typeof storedEvent>;

/** `next` is the start of the next page, and of a stream that continues there. */
export const eventList = z.object({ events: z.array(storedEvent).readonly(), next: z.int().nonnegative() });

const wireFrame = z.object({
  index: z.int().nonnegative(),
  at: timestamp,
  trigger: z.object({
    kind: text,
    node: text.optional(),
    keys: z.array(text).readonly().optional(),
    detail: text.optional(),
  }),
  mounted: z.array(text).readonly(),
  unmounted: z.array(text).readonly(),
  written: z.array(text).readonly(),
  digest,
  verifiable: z.boolean(),
  /** The version of the plan that rendered it, counted from 1. */
  planVersion: z.int().positive(),
});
export type WireFrame = z.infer<typeof wireFrame>;

export const frameList = z.object({ frames: z.array(wireFrame).readonly(), next: z.int().nonnegative() });

/** The durable state in a frame. */
export const frameState = z.object({
  frame: z.int().nonnegative(),
  state: z.record(z.string(), json),
  /** Volatile state read by the frame's render; an entry without a value was not recorded. */
  volatile: z.record(z.string(), z.object({ value: json.optional() })).optional(),
});
export type FrameState = z.infer<typeof frameState>;

/** A change of one state key; an absent value means that the key did not exist. */
const wireTransition = z.object({
  frame: z.int().nonnegative(),
  index: z.int().nonnegative(),
  key: text,
  old: json.optional(),
  new: json.optional(),
  trigger: text.optional(),
  node: text.optional(),
  handler: text.optional(),
  at: timestamp,
});
export type WireTransition = z.infer<typeof wireTransition>;

export const transitionList = z.object({
  transitions: z.array(wireTransition).readonly(),
  next: text.optional(),
});

/** In order of creation; `next` is the cursor of the next page. */
export const taskList = z.object({ tasks: z.array(wireTask).readonly(), next: text.optional() });

/** A part of an agent's output during a task. */
export const wireChunk = z.object({
  index: z.int().nonnegative(),
  kind: z.enum(['token', 'thinking', 'tool_start', 'tool_end', 'message']),
  payload: json,
  at: timestamp,
  /** The `seq` of the last event before it, for subscribers. */
  after: z.int().nonnegative().optional(),
});
export type WireChunk = z.infer<typeof wireChunk>;

export const chunkList = z.object({
  task: text,
  chunks: z.array(wireChunk).readonly(),
  next: z.int().nonnegative(),
});
