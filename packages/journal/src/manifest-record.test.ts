import { canonicalJson, type Digest, type EventId, type SessionId } from '@signalbox/model';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeRecord, encodeRecord, type ManifestRecord, manifestRecord, segmentPath } from './manifest-record.ts';

const index = fc.nat({ max: Number.MAX_SAFE_INTEGER });
const uuid = fc.uuid();
const digest = fc
  .array(fc.constantFrom(...'0123456789abcdef'), { minLength: 64, maxLength: 64 })
  .map(hex => `sha256:${hex.join('')}` as Digest);
const fields = {
  v: fc.constant(1 as const),
  manifestIndex: index,
  sessionId: uuid.map(id => id as SessionId),
};
const record: fc.Arbitrary<ManifestRecord> = fc.oneof(
  fc.record({
    ...fields,
    kind: fc.constant('segment_closed' as const),
    firstEventIndex: index,
    lastEventIndex: index,
    segmentRelPath: fc.oneof(
      fc.tuple(index, index).map(([first, last]) => segmentPath(first, last)),
      fc.string({ unit: 'binary' }),
    ),
    sha256: digest,
    bytes: index,
  }),
  fc.record({
    ...fields,
    kind: fc.constant('snapshot_pinned' as const),
    eventIndex: index,
    snapshotRef: digest,
    createdByEventId: uuid.map(id => id as EventId),
  }),
);

describe('a manifest record', () => {
  it('[J2] comes back from its line as it was', () => {
    fc.assert(
      fc.property(record, value => {
        expect(decodeRecord(encodeRecord(value))).toEqual({ ok: true, value });
      }),
    );
  });

  it('[J2, J20] is accepted in its canonical text and in no other', () => {
    fc.assert(
      fc.property(record, fc.nat(), fc.integer({ min: 0, max: 0x7f }), (value, at, code) => {
        const line = encodeRecord(value);
        const offset = at % line.length;
        const changed = line.slice(0, offset) + String.fromCharCode(code) + line.slice(offset + 1);
        const decoded = decodeRecord(changed);
        // Every accepted record is written in exactly this way.
        if (decoded.ok) {
          expect(manifestRecord.parse(decoded.value)).toEqual(decoded.value);
          expect(canonicalJson(decoded.value)).toBe(changed);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['{"v":1', 'record_not_json'],
    ['[]', 'record_invalid'],
    ['null', 'record_invalid'],
    ['{"v":2}', 'record_version_unknown'],
    [
      '{"bytes":0,"firstEventIndex":0,"kind":"segment_closed","lastEventIndex":0,"manifestIndex":0,"segmentRelPath":"\\ud800","sessionId":"01900000-0000-7000-8000-000000000001","sha256":"sha256:0000000000000000000000000000000000000000000000000000000000000000","v":1}',
      'record_not_canonical',
    ],
    ['{"v":1,"kind":"segment_opened"}', 'record_invalid'],
  ])('[J2, J20] %s is %s', (line, code) => {
    expect(decodeRecord(line)).toMatchObject({ ok: false, error: { code } });
  });

  it('[J3] names a segment by its bounds, in the order of its index', () => {
    expect(segmentPath(0, 2)).toBe('events/00000000-00000002.jsonl');
    expect(segmentPath(99_999_998, 100_000_001)).toBe('events/99999998-100000001.jsonl');
  });
});
