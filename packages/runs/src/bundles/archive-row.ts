import { digest } from '@signalbox/model';
import * as z from 'zod';
import type { LogRecord } from '../log/record.ts';
import { type StreamChunk, streamChunk } from '../stream/stream-chunk.ts';

/** What a run is, part by part, in the order in which it moves. Everything that shows it follows from its records. */
export const archiveRow = {
  /** The bytes that were hashed, as they are. */
  records: z.strictObject({ header: z.string(), body: z.string(), hash: digest }),
  /** What agents said on the way; in no record. */
  deltas: streamChunk,
} as const;

export type ArchivePart = keyof typeof archiveRow;
export const archiveParts = Object.keys(archiveRow) as readonly ArchivePart[];

export interface ArchiveRows {
  readonly records: LogRecord;
  readonly deltas: StreamChunk;
}

/** A row, and which part of its run it belongs to. */
export type ArchiveRow = {
  readonly [Part in ArchivePart]: { readonly part: Part; readonly row: ArchiveRows[Part] };
}[ArchivePart];
