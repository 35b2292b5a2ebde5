import type { ErrorEnvelope, Result, RunId } from '@signalbox/model';
import type { ArchivePart, ArchiveRow, ArchiveRows } from './archive-row.ts';

/** Reads the rows that a run is, as they are kept. */
export interface RunArchive {
  /** In their order, a bounded number at a time. What is damaged is thrown where it is come upon. */
  archived<Part extends ArchivePart>(run: RunId, part: Part): Iterable<ArchiveRows[Part]>;
}

/** Keeps runs that were made elsewhere. */
export interface RunRestore {
  /**
   * Keeps all of it or nothing: runs after one another, each beginning with its record and ending with its journal. Ids that
   * are taken, a chain that does not hold, and rows that do not fit those before them are refused.
   */
  restore(rows: Iterable<ArchiveRow>): Result<readonly RunId[], RestoreError>;
}

export type RestoreError = ErrorEnvelope<
  'run/exists' | 'BUNDLE_INVALID_FORMAT' | 'BUNDLE_EVENT_ORDER_INVALID' | 'BUNDLE_INTEGRITY_FAILED' | 'STORE_IO_FAILED'
>;
