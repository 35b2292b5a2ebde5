import type { Digest, ErrorEnvelope, Result, RunId } from '@signalbox/model';
import type { ArchivePart, ArchiveRow, ArchiveRows } from './archive-row.ts';

/** Reads what a run is, as it is kept. */
export interface RunArchive {
  /** In their order, a bounded number at a time. What is damaged is thrown where it is come upon. */
  archived<Part extends ArchivePart>(run: RunId, part: Part): Iterable<ArchiveRows[Part]>;
}

/** Keeps runs that were made elsewhere. */
export interface RunRestore {
  /**
   * Keeps all of it or nothing: runs after one another, each with its records and then the rest. Ids that are taken, a chain that
   * does not hold, and records that do not follow those before them are refused.
   */
  restore(rows: Iterable<ArchiveRow>): Result<readonly RunId[], RestoreError>;
  /** Texts that are too large for a record. They throw where a blob cannot be read or written. */
  readonly texts: LargeTexts;
}

export interface LargeTexts {
  textOf(blob: Digest): string;
  putText(text: string): Digest;
}

export type RestoreError = ErrorEnvelope<
  'run/exists' | 'BUNDLE_INVALID_FORMAT' | 'BUNDLE_EVENT_ORDER_INVALID' | 'BUNDLE_INTEGRITY_FAILED' | 'STORE_IO_FAILED'
>;
