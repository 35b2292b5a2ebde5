import type { Digest, ErrorEnvelope, Result, RunId } from '@signalbox/model';
import type { ArchivePart, ArchiveRow, ArchiveRows } from './archive-row.ts';

/** Reads the stored parts of a run. */
export interface RunArchive {
  /** In order, a bounded number at a time. Throws at damaged rows. */
  archived<Part extends ArchivePart>(run: RunId, part: Part): Iterable<ArchiveRows[Part]>;
}

/** Stores runs that were made elsewhere. */
export interface RunRestore {
  /**
   * Stores everything or nothing: one run after another, each with its records and then the rest. Taken ids, broken chains, and records
   * that do not follow the previous one are refused.
   */
  restore(rows: Iterable<ArchiveRow>): Result<readonly RunId[], RestoreError>;
  /** Texts that are too large for a record. They throw if a blob cannot be read or written. */
  readonly texts: LargeTexts;
}

interface LargeTexts {
  textOf(blob: Digest): string;
  putText(text: string): Digest;
}

export type RestoreError = ErrorEnvelope<
  'run/exists' | 'BUNDLE_INVALID_FORMAT' | 'BUNDLE_EVENT_ORDER_INVALID' | 'BUNDLE_INTEGRITY_FAILED' | 'STORE_IO_FAILED'
>;
