import { type Digest, digest } from '@signalbox/model';
import * as z from 'zod';
import { artifactRecord } from '../artifacts/artifact-record.ts';
import { decision } from '../decisions/decision.ts';
import { type AnyEvent, anyEvent } from '../events/stored-event.ts';
import { frame } from '../frames/frame.ts';
import { intervalWrite } from '../frames/interval.ts';
import { transition } from '../frames/transition.ts';
import { runRecord } from '../run/run-record.ts';
import { streamChunk } from '../stream/stream-chunk.ts';
import { task } from '../tasks/task.ts';
import { usageRecord } from '../usage/usage.ts';

/** An event with the head of its run's chain after it. */
const storedEvent = z.strictObject({ event: anyEvent as unknown as z.ZodType<AnyEvent>, hash: digest });

/**
 * The rows that a run is, part by part, in the order in which they move: what other rows refer to comes first. Values are
 * moved as the changes that they are kept as, so moving a run costs what it takes.
 */
export const archiveRow = {
  record: runRecord,
  tasks: task,
  decisions: decision,
  artifacts: artifactRecord,
  /** By space and key; of each key in the order of frames. */
  intervals: intervalWrite,
  frames: frame,
  transitions: transition,
  usage: usageRecord,
  stream: streamChunk,
  /** The events, in their order. */
  journal: storedEvent,
} as const;

export type ArchivePart = keyof typeof archiveRow;
export const archiveParts = Object.keys(archiveRow) as readonly ArchivePart[];

export interface ArchiveRows {
  readonly record: z.infer<typeof runRecord>;
  readonly tasks: z.infer<typeof task>;
  readonly decisions: z.infer<typeof decision>;
  readonly artifacts: z.infer<typeof artifactRecord>;
  readonly intervals: z.infer<typeof intervalWrite>;
  readonly frames: z.infer<typeof frame>;
  readonly transitions: z.infer<typeof transition>;
  readonly usage: z.infer<typeof usageRecord>;
  readonly stream: z.infer<typeof streamChunk>;
  readonly journal: { readonly event: AnyEvent; readonly hash: Digest };
}

/** A row, and which part of its run it belongs to. */
export type ArchiveRow = {
  readonly [Part in ArchivePart]: { readonly part: Part; readonly row: ArchiveRows[Part] };
}[ArchivePart];
