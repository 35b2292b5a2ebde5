import {
  canonicalJson,
  type Digest,
  digest,
  type EventId,
  err,
  eventId,
  ok,
  parsedJson,
  type Result,
  type SessionId,
  sessionId,
  tryCanonicalJson,
} from '@signalbox/model';
import * as z from 'zod';
import { describeIssues } from './event.ts';

const MANIFEST_VERSION = 1;

const recordFields = {
  v: z.literal(MANIFEST_VERSION),
  manifestIndex: z.int().nonnegative(),
  sessionId,
};

/** A segment is part of the truth from this record on. */
const segmentClosed = z.strictObject({
  ...recordFields,
  kind: z.literal('segment_closed'),
  firstEventIndex: z.int().nonnegative(),
  lastEventIndex: z.int().nonnegative(),
  segmentRelPath: z.string(),
  sha256: digest,
  bytes: z.int().nonnegative(),
});
export type SegmentClosed = z.infer<typeof segmentClosed>;

/** A snapshot is kept as long as the journal. */
const snapshotPinned = z.strictObject({
  ...recordFields,
  kind: z.literal('snapshot_pinned'),
  eventIndex: z.int().nonnegative(),
  snapshotRef: digest,
  createdByEventId: eventId,
});
export type SnapshotPinned = z.infer<typeof snapshotPinned>;

export const manifestRecord = z.discriminatedUnion('kind', [segmentClosed, snapshotPinned]);
export type ManifestRecord = z.infer<typeof manifestRecord>;

export type RecordProblem = {
  readonly code: 'record_not_json' | 'record_version_unknown' | 'record_invalid' | 'record_not_canonical';
  readonly reason: string;
};

export function encodeRecord(record: ManifestRecord): string {
  return canonicalJson(record);
}

/** A record from its line, without the newline. */
export function decodeRecord(line: string): Result<ManifestRecord, RecordProblem> {
  const record = matchRecord(line);
  return record === undefined ? diagnoseRecord(line) : ok(record);
}

const INDEX = '(0|[1-9][0-9]{0,14})';
const UUID = '([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})';
const DIGEST = '(sha256:[0-9a-f]{64})';

const segmentClosedText = new RegExp(
  `^{"bytes":${INDEX},"firstEventIndex":${INDEX},"kind":"segment_closed","lastEventIndex":${INDEX},"manifestIndex":${INDEX},"segmentRelPath":"([a-z0-9/.-]+)","sessionId":"${UUID}","sha256":"${DIGEST}","v":1}$`,
);
const snapshotPinnedText = new RegExp(
  `^{"createdByEventId":"${UUID}","eventIndex":${INDEX},"kind":"snapshot_pinned","manifestIndex":${INDEX},"sessionId":"${UUID}","snapshotRef":"${DIGEST}","v":1}$`,
);

/** Fast path: a valid record has exactly one canonical text. Reading a long manifest spends most of its time here. */
function matchRecord(line: string): ManifestRecord | undefined {
  const pin = snapshotPinnedText.exec(line);
  if (pin !== null) {
    const [, createdByEventId, eventIndex, manifestIndex, session, snapshotRef] = pin;
    return {
      v: MANIFEST_VERSION,
      manifestIndex: Number(manifestIndex),
      sessionId: session as SessionId,
      kind: 'snapshot_pinned',
      eventIndex: Number(eventIndex),
      snapshotRef: snapshotRef as Digest,
      createdByEventId: createdByEventId as EventId,
    };
  }
  const closed = segmentClosedText.exec(line);
  if (closed === null) return undefined;
  const [, bytes, first, last, manifestIndex, path = '', session, sha256] = closed;
  return {
    v: MANIFEST_VERSION,
    manifestIndex: Number(manifestIndex),
    sessionId: session as SessionId,
    kind: 'segment_closed',
    firstEventIndex: Number(first),
    lastEventIndex: Number(last),
    segmentRelPath: path,
    sha256: sha256 as Digest,
    bytes: Number(bytes),
  };
}

/** Reports what is wrong with a line that is not an ordinary record. */
function diagnoseRecord(line: string): Result<ManifestRecord, RecordProblem> {
  const value = parsedJson(line);
  if (value === undefined) return err({ code: 'record_not_json', reason: 'the line is not JSON' });
  const version = versionOf(value);
  if (version !== undefined && version !== MANIFEST_VERSION) {
    return err({ code: 'record_version_unknown', reason: `the record has version ${version}` });
  }
  const parsed = manifestRecord.safeParse(value);
  if (!parsed.success) return err({ code: 'record_invalid', reason: describeIssues(parsed.error) });
  if (!isCanonical(parsed.data, line)) {
    return err({ code: 'record_not_canonical', reason: 'the line is not the canonical text of its record' });
  }
  return ok(parsed.data);
}

/** Whether a text is the canonical JSON of its value. */
export function isCanonical(value: unknown, text: string): boolean {
  const canonical = tryCanonicalJson(value);
  return canonical.ok && canonical.value === text;
}

/** The only valid path of a segment. */
export function segmentPath(firstEventIndex: number, lastEventIndex: number): string {
  const padded = (index: number) => String(index).padStart(8, '0');
  return `events/${padded(firstEventIndex)}-${padded(lastEventIndex)}.jsonl`;
}

/** The number in `v`, if any. */
export function versionOf(value: unknown): number | undefined {
  if (typeof value !== 'object' || value === null || !('v' in value)) return undefined;
  return typeof value.v === 'number' ? value.v : undefined;
}
