import type { CommitView, Outcome } from '../commit-plan.ts';
import type { OpenRecord } from './open-record.ts';
import type { RecordDraft } from './record.ts';

/** A record of a log before its rewrite, and its effects. */
export interface RewrittenRecord {
  readonly record: OpenRecord;
  readonly outcome: Outcome;
}

/**
 * Returns the rewritten body of each record, in order; undefined if the body stays. `view` shows the effects of the rewritten records
 * before it.
 */
export type BodyRewrite = (given: RewrittenRecord, view: CommitView) => RecordDraft | undefined;

/** A body without the members that sealing adds. Values from blobs are in their places. */
export function draftOf({ salt: _, large: __, ...draft }: OpenRecord['body']): RecordDraft {
  return draft;
}
