import { digest } from '@signalbox/model';
import * as z from 'zod';
import type { LogRecord } from '../log/record.ts';
import { type StreamChunk, streamChunk } from '../stream/stream-chunk.ts';

/** The parts of a run, in the order in which they move. Everything else follows from its records. */
export const archiveRow = {
  /** The hashed bytes, unchanged. */
  records: z.strictObject({ header: z.string(), body: z.string(), hash: digest }),
  /** Partial agent output; in no record. */
  deltas: streamChunk,
} as const;

export type ArchivePart = keyof typeof archiveRow;
export const archiveParts = Object.keys(archiveRow) as readonly ArchivePart[];

export interface ArchiveRows {
  readonly records: LogRecord;
  readonly deltas: StreamChunk;
}

/** A row, and the part of its run that it belongs to. */
export type ArchiveRow = {
  readonly [Part in ArchivePart]: { readonly part: Part; readonly row: ArchiveRows[Part] };
}[ArchivePart];
