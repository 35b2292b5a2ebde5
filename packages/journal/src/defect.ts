/** The health of a journal. */
export type SessionHealth = 'healthy' | 'corrupt_tail' | 'corrupt_head' | 'unknown_version';

/** Everything that can be wrong with a journal, and what it means. */
export const defectMeanings = {
  manifest_not_a_file: 'manifest.jsonl is not a regular file, so nothing it says can be trusted.',
  manifest_shrunk: 'Records that were read before are gone: the manifest was cut while it was in use.',
  record_not_json: 'A manifest line is damaged. What it attested cannot be known.',
  record_invalid: 'A manifest record lacks a field, has one too many, or one of the wrong kind.',
  record_not_canonical: 'A manifest record was rewritten: it says the same in other bytes.',
  record_version_unknown: 'The manifest was written by a newer version. Use that version; nothing is guessed.',
  record_out_of_order: 'A manifest record is missing, repeated or moved.',
  session_mismatch: 'A manifest record belongs to another session: files were mixed.',
  segment_out_of_order: 'A segment does not start where the one before it ended: events are missing or repeated.',
  segment_path_refused: 'A manifest record points to a file other than its own segment. It was not opened.',
  segment_missing: 'A segment that was committed is gone.',
  segment_not_a_file: 'A link or a directory stands where a segment should be. It was not followed.',
  segment_size_mismatch: 'A segment is longer or shorter than when it was committed.',
  segment_digest_mismatch: 'A segment was changed after it was committed, or its record was.',
  event_not_json: 'A line of a segment is not JSON, though the segment is as it was committed.',
  event_version_unknown: 'An event was written by a newer version. Use that version; nothing is guessed.',
  event_invalid: 'An event does not fit its schema, though the segment is as it was committed.',
  event_not_canonical: 'An event is not in canonical form, so its hash depends on how it was written.',
  event_out_of_order: 'An event does not have the index of its place.',
  event_session_mismatch: 'An event belongs to another session.',
  event_count_mismatch: 'A segment does not hold as many events as its record says.',
  dedupe_key_repeated: 'Two events have one dedupe key: something was recorded twice.',
  pin_missing: 'A snapshot that an event introduced was never pinned, though the journal went on.',
  pin_unfounded: 'A pin names a snapshot that its event did not introduce.',
  snapshot_missing: 'A pinned snapshot is not in the store: the journal is whole, but cannot be resumed from there.',
  snapshot_digest_mismatch: 'A pinned snapshot was changed after it was stored.',
  head_mismatch: 'This is not the history whose head was kept: it was rewritten or cut.',
  head_passed: 'The history whose head was kept is all here, and more was appended since.',
} as const;

export type DefectCode = keyof typeof defectMeanings;

/** The first thing that is wrong with a journal. */
export interface Defect {
  readonly code: DefectCode;
  /** Relative to the journal's directory, or to its home for snapshots. */
  readonly file: string;
  /** Counted from 1, if the file has lines. */
  readonly line?: number;
  /** What exactly is wrong. */
  readonly reason: string;
}

/** An unexpected head means that this is another journal, not that it is damaged. */
export function healthOf(defect: Defect | undefined, validEvents: number): SessionHealth {
  if (defect === undefined || defect.code === 'head_mismatch' || defect.code === 'head_passed') return 'healthy';
  if (defect.code === 'record_version_unknown' || defect.code === 'event_version_unknown') return 'unknown_version';
  return validEvents > 0 ? 'corrupt_tail' : 'corrupt_head';
}

/** `manifest.jsonl line 3: …` */
export function describeDefect(defect: Defect): string {
  const line = defect.line === undefined ? '' : ` line ${defect.line}`;
  return `${defect.file}${line}: ${defect.reason}`;
}
