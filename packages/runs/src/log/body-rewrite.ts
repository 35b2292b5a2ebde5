import type { CommitView, Outcome } from '../commit-plan.ts';
import type { OpenRecord } from './open-record.ts';
import type { RecordDraft } from './record.ts';

/** A record of a log that is about to lose something, and what it came to. */
export interface RewrittenRecord {
  readonly record: OpenRecord;
  readonly outcome: Outcome;
}

/**
 * Says what is left of each body of a log, in the order of its records; undefined where the body stays. `view` shows what the
 * records before it, as they are rewritten, come to.
 */
export type BodyRewrite = (given: RewrittenRecord, view: CommitView) => RecordDraft | undefined;

/** A body without what sealing it adds. Values that lay in blobs are in their places. */
export function draftOf({ salt: _, large: __, ...draft }: OpenRecord['body']): RecordDraft {
  return draft;
}
