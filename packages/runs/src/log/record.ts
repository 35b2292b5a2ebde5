import { type Digest, digest, json, runId, text, timestamp } from '@signalbox/model';
import * as z from 'zod';
import { artifactRecord } from '../artifacts/artifact-record.ts';
import { decision } from '../decisions/decision.ts';
import { keptEvent } from '../events/kept-event.ts';
import { frame } from '../frames/frame.ts';
import { intervalSpace, intervalWrite } from '../frames/interval.ts';
import { transition } from '../frames/transition.ts';
import { retentionWrite } from '../retention/retention-write.ts';
import { newRun, runChange } from '../run/run-record.ts';
import { streamChunk } from '../stream/stream-chunk.ts';
import { task } from '../tasks/task.ts';
import { usageRecord } from '../usage/usage.ts';
import { largeValue } from './large-values.ts';
import { bodyAway, takingAway } from './taken-away.ts';

/**
 * One commit of a run, as stored (T1). The records of a run are its log: everything else about it follows from them.
 *
 * R1  `hash = H(previous hash, header)`, and the header names the digest of the body: the stored bytes are the hashed bytes, and are never
 *     serialized again.
 * R2  The body is the outcome of the commit. Reading it decides nothing.
 * R3  The body begins with a salt, so that the digest of a removed body reveals nothing about it (T7).
 * R4  A value of more than 64 kB is in a blob that the body and the header name (T5).
 * R5  A body may be replaced by its remains. The header stays, and a later record says so (T7).
 */
export interface LogRecord {
  readonly header: string;
  readonly body: string;
  readonly hash: Digest;
}

export const RECORD_VERSION = 1;

export const recordHeader = z.strictObject({
  v: z.literal(RECORD_VERSION),
  log: runId,
  /** Counts the commits of the log from 0. */
  n: z.int().nonnegative(),
  at: timestamp,
  /** Whether the run's driver committed it, or someone else. */
  who: z.enum(['driver', 'outside']),
  /** The run's version after it. */
  version: z.int().positive(),
  /** The `seq` of its first event. */
  seq: z.int().nonnegative(),
  /** How many events it has. */
  events: z.int().nonnegative(),
  blobs: z.array(digest).readonly().optional(),
  body: digest,
});
export type RecordHeader = z.infer<typeof recordHeader>;

/** A value, or the blob that holds its JSON and the length of that text. */
const heldValue = z.union([z.strictObject({ json }), z.strictObject({ blob: digest, length: z.int().nonnegative() })]);
export type HeldValue = z.infer<typeof heldValue>;

/** The entire initial state of a fork, so that it can be verified and rebuilt without its parent (R18). */
const beginning = z.strictObject({
  /** By space and key; they hold from frame 0 on. */
  intervals: z.array(z.strictObject({ space: intervalSpace, key: text.min(1), value: heldValue })).readonly(),
  tasks: z.array(z.strictObject({ task: task.omit({ result: true }), result: heldValue.optional() })).readonly(),
});
export type Beginning = z.infer<typeof beginning>;

export const recordBody = z.strictObject({
  salt: text,
  away: bodyAway.optional(),
  taken: takingAway.optional(),
  run: z
    .discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('create'), epoch: z.int().nonnegative(), run: newRun }),
      z.strictObject({ kind: z.literal('change'), change: runChange }),
    ])
    .optional(),
  begins: beginning.optional(),
  retention: retentionWrite.optional(),
  frame: frame.optional(),
  intervals: z.array(intervalWrite).readonly().optional(),
  transitions: z.array(transition).readonly().optional(),
  tasks: z.array(task).readonly().optional(),
  decisions: z.array(decision).readonly().optional(),
  artifacts: z.array(artifactRecord).readonly().optional(),
  usage: z.array(usageRecord).readonly().optional(),
  /** Agent output, except for message parts. */
  stream: z.array(streamChunk).readonly().optional(),
  events: z.array(keptEvent).readonly().optional(),
  large: z.array(largeValue).readonly().optional(),
});
export type RecordBody = z.infer<typeof recordBody>;

/** A body without salt and blobs. */
export type RecordDraft = Omit<RecordBody, 'salt' | 'large'>;
