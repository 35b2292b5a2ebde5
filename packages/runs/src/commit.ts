import { type Digest, type ErrorEnvelope, type Result, type RunId, runId, timestamp } from '@signalbox/model';
import * as z from 'zod';
import { artifactRecord } from './artifacts/artifact-record.ts';
import { decisionWrite } from './decisions/decision.ts';
import { keptEvent } from './events/kept-event.ts';
import { inheritance } from './forks/inheritance.ts';
import { frame } from './frames/frame.ts';
import { intervalWrite } from './frames/interval.ts';
import { transition } from './frames/transition.ts';
import { keepWrite } from './retention/retention-write.ts';
import { newRun, runChange } from './run/run-record.ts';
import { streamChunk } from './stream/stream-chunk.ts';
import { task } from './tasks/task.ts';
import { usageRecord } from './usage/usage.ts';

/**
 * The only way to change a run: a set of writes, all or nothing, with its events.
 *
 * C1  A commit is durable before it is answered or published.
 * C2  A commit is one record of the run's log, and its events are numbered in the same transaction (T1).
 * C3  A commit that does not match its guard changes nothing.
 * C4  A failed commit changes nothing, unless it says that its outcome is unknown.
 * C5  A commit takes ownership of its write set: the caller must not change it afterwards.
 */
export interface Commit {
  commit(writes: WriteSet, guard: Guard): Promise<Result<Committed, CommitError>>;
}

/**
 * The run, and what the writer knows of it. `epoch` is the claim it holds: one lower than the run's is refused. `version` is the number of
 * driver commits it has seen: 0 creates the run; a number other than the run's is refused. `any` is for changes from outside the driver
 * (answers, signals, artifacts, usage, streams, retention): it may not touch the driver's part (run, frame, intervals, transitions, tasks),
 * does not count as a version, and needs no claim.
 */
export const guard = z.union([
  z.strictObject({ run: runId, epoch: z.int().nonnegative(), version: z.int().nonnegative() }),
  z.strictObject({ run: runId, version: z.literal('any') }),
]);
export type Guard = z.infer<typeof guard>;

const runWrite = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('create'), run: newRun }),
  z.strictObject({ kind: z.literal('change'), change: runChange }),
]);
export type RunWrite = z.infer<typeof runWrite>;

/** Everything that one commit writes, as plain data. Absent parts are not touched. Applied in the order of the fields. */
export const writeSet = z.strictObject({
  at: timestamp,
  run: runWrite.optional(),
  /** In the commit that creates a fork; the commit's other writes apply on top. */
  inherit: inheritance.optional(),
  retention: keepWrite.optional(),
  frame: frame.optional(),
  intervals: z.array(intervalWrite).readonly().optional(),
  transitions: z.array(transition).readonly().optional(),
  /** Whole rows: an existing one is replaced, if its status may follow. */
  tasks: z.array(task).readonly().optional(),
  decisions: z.array(decisionWrite).readonly().optional(),
  artifacts: z.array(artifactRecord).readonly().optional(),
  usage: z.array(usageRecord).readonly().optional(),
  stream: z.array(streamChunk).readonly().optional(),
  /** Events that follow from another part may be shortened. */
  events: z.array(keptEvent).readonly().optional(),
});
export type WriteSet = z.infer<typeof writeSet>;

/** A commit that is durable. */
export interface Committed {
  readonly run: RunId;
  /** For the run's next guard. */
  readonly epoch: number;
  readonly version: number;
  /** The `seq` of the run's next event, and the hash of this record. */
  readonly nextSeq: number;
  readonly head: Digest;
}

export type CommitError = ErrorEnvelope<
  | 'VALIDATION_ERROR'
  | 'run/unknown'
  | 'run/exists'
  | 'run/duplicate-key'
  | 'run/stale-epoch'
  | 'run/stale-version'
  | 'run/writes-refused'
  | 'decision/unknown'
  | 'decision/answered'
  | 'decision/withdrawn'
  | 'decision/stale-proposal'
  | 'STORE_IO_FAILED'
  | 'store/outcome-unknown'
>;
