/**
 * Reads what a manifest attests, in order, into a `Truth`. The only reader, used for execution, salvage and verification.
 *
 * R1  Truth grows by whole appends: a segment's events and its pins together, or not at all.
 * R2  It stops at the first defect; everything before it stays valid.
 * R3  Bytes that can only come from an interrupted write are a tail, not a defect. An interrupted write leaves a proper prefix
 *     of its data: whole records, then at most one incomplete record.
 */
import { type Digest, err, type Hasher, ok, parsedJson, type Result, type SessionId } from '@signalbox/model';
import { MAX_PLAN_BYTES } from './append-limits.ts';
import type { Defect, DefectCode } from './defect.ts';
import type { Disk } from './disk.ts';
import type { DedupeKey, EventSchema, JournalEvent } from './event.ts';
import { type HeadChain, headChain } from './head-chain.ts';
import {
  decodeRecord,
  isCanonical,
  type SegmentClosed,
  type SnapshotPinned,
  segmentPath,
  versionOf,
} from './manifest-record.ts';
import type { SegmentPacking } from './segment-packing.ts';

export const MANIFEST = 'manifest.jsonl';

/** The content of a journal, as far as it has been read. It only grows. */
export interface Truth<E extends JournalEvent> {
  readonly sessionId: SessionId;
  readonly events: E[];
  /** The last complete list of events that was requested. */
  whole: readonly E[];
  readonly indexByKey: Map<DedupeKey, number>;
  /** Every pinned snapshot, and the index of an event that refers to it. */
  readonly pins: Map<Digest, number>;
  readonly chain: HeadChain;
  records: number;
  /** Where the next append goes: the end of the last complete one. */
  manifestBytes: number;
}

export function emptyTruth<E extends JournalEvent>(sessionId: SessionId, hasher: Hasher): Truth<E> {
  return {
    sessionId,
    events: [],
    whole: [],
    indexByKey: new Map(),
    pins: new Map(),
    chain: headChain(hasher),
    records: 0,
    manifestBytes: 0,
  };
}

export interface ReplaySource<E extends JournalEvent> {
  readonly disk: Pick<Disk, 'read' | 'kind'>;
  readonly directory: string;
  readonly hasher: Hasher;
  readonly schema: EventSchema<E>;
  readonly packing?: SegmentPacking | undefined;
  /** Also checks that every event is in canonical form, which the segment's digest does not imply. */
  readonly checksForm?: boolean;
  /** Called for each segment that is part of the truth. */
  readonly onSegment?: (path: string) => void;
}

export interface Replayed {
  readonly defect?: Defect;
  /** Bytes at the end of the manifest that were never acknowledged. */
  readonly tailBytes: number;
}

const ascii = new TextDecoder('latin1');
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Takes the manifest's bytes from `truth.manifestBytes` on. */
export function replay<E extends JournalEvent>(
  truth: Truth<E>,
  manifest: Uint8Array,
  source: ReplaySource<E>,
): Replayed {
  // One character per byte. A manifest is ASCII; anything else fails its record's check.
  const text = ascii.decode(manifest);
  const start = truth.manifestBytes;
  const defective = (defect: Defect): Replayed => ({ defect, tailBytes: 0 });
  if (text !== '' && source.disk.kind(`${source.directory}/events`) === 'other') {
    return defective({ code: 'segment_not_a_file', file: 'events', reason: 'it is a link, not a directory' });
  }
  let open: Segment<E> | undefined;
  let records = truth.records;
  let position = 0;

  while (position < text.length) {
    const place = { file: MANIFEST, line: records + 1 };
    const end = text.indexOf('\n', position);
    if (end < 0) {
      if (isTornRecord(text.slice(position))) break;
      return defective({ ...place, code: 'record_not_json', reason: 'the last line is damaged' });
    }
    const record = decodeRecord(text.slice(position, end));
    if (!record.ok) return defective({ ...place, ...record.error });
    const misplaced = checkOrder(truth, record.value, records);
    if (misplaced !== undefined) return defective({ ...place, ...misplaced });

    if (record.value.kind === 'segment_closed') {
      if (open !== undefined) return defective({ ...place, code: 'pin_missing', reason: describeUnpinned(open) });
      const segment = readSegment(truth, record.value, source, place);
      if (!segment.ok) return defective(segment.error);
      open = segment.value;
    } else {
      const unfounded = checkPin(truth, open, record.value, source.schema);
      if (unfounded !== undefined) return defective({ ...place, code: 'pin_unfounded', reason: unfounded });
      open?.unpinned.delete(record.value.snapshotRef);
    }

    records += 1;
    position = end + 1;
    if (open !== undefined && open.unpinned.size > 0) continue;
    if (open !== undefined) {
      commit(truth, open.lines, source.schema);
      source.onSegment?.(open.path);
      open = undefined;
    }
    truth.records = records;
    truth.manifestBytes = start + position;
  }
  return { tailBytes: start + text.length - truth.manifestBytes };
}

/** An event as written and as read. */
export interface EventLine<E extends JournalEvent> {
  readonly event: E;
  /** Its canonical text, without the newline. */
  readonly text: string;
}

/** Adds the events of one append, with their pins, to the truth. */
export function commit<E extends JournalEvent>(
  truth: Truth<E>,
  lines: readonly EventLine<E>[],
  schema: EventSchema<E>,
): void {
  for (const { event, text } of lines) {
    truth.chain.extend(text);
    truth.indexByKey.set(event.dedupeKey, event.eventIndex);
    for (const ref of schema.snapshotRefs(event)) if (!truth.pins.has(ref)) truth.pins.set(ref, event.eventIndex);
    truth.events.push(event);
  }
}

interface Segment<E extends JournalEvent> {
  readonly path: string;
  readonly lines: readonly EventLine<E>[];
  /** Snapshots that it introduces and whose pins have not been read yet. */
  readonly unpinned: Set<Digest>;
}

type Problem = { readonly code: DefectCode; readonly reason: string };

/** A record contains no brace except its last character, so an interrupted write never leaves text after one. */
function isTornRecord(text: string): boolean {
  const brace = text.indexOf('}');
  return brace < 0 || brace === text.length - 1;
}

function checkOrder<E extends JournalEvent>(
  truth: Truth<E>,
  record: SegmentClosed | SnapshotPinned,
  manifestIndex: number,
): Problem | undefined {
  if (record.sessionId !== truth.sessionId) {
    return { code: 'session_mismatch', reason: `the record is of session ${record.sessionId}` };
  }
  if (record.manifestIndex !== manifestIndex) {
    return {
      code: 'record_out_of_order',
      reason: `the record has index ${record.manifestIndex}, its place is ${manifestIndex}`,
    };
  }
  return undefined;
}

function readSegment<E extends JournalEvent>(
  truth: Truth<E>,
  record: SegmentClosed,
  source: ReplaySource<E>,
  place: { readonly file: string; readonly line: number },
): Result<Segment<E>, Defect> {
  const first = truth.events.length;
  if (record.firstEventIndex !== first || record.lastEventIndex < first) {
    const range = `${record.firstEventIndex} to ${record.lastEventIndex}`;
    return err({ ...place, code: 'segment_out_of_order', reason: `events ${range} follow event ${first - 1}` });
  }
  const path = segmentPath(first, record.lastEventIndex);
  if (record.segmentRelPath !== path) {
    return err({ ...place, code: 'segment_path_refused', reason: `the segment's path must be ${path}` });
  }
  const found = contentOf(path, record, source);
  if (!found.ok) return found;
  const { file, bytes } = found.value;
  if (bytes.length !== record.bytes) {
    const reason = `it has ${bytes.length} bytes, its record says ${record.bytes}`;
    return err({ file, code: 'segment_size_mismatch', reason });
  }
  if (source.hasher(bytes) !== record.sha256) {
    return err({ file, code: 'segment_digest_mismatch', reason: `its sha256 is not ${record.sha256}` });
  }
  return decodeSegment(truth, record, file, bytes, source);
}

/** A segment's content and its file. */
function contentOf<E extends JournalEvent>(
  path: string,
  record: SegmentClosed,
  { disk, directory, packing }: ReplaySource<E>,
): Result<{ readonly file: string; readonly bytes: Uint8Array }, Defect> {
  const packed = packing === undefined ? 'missing' : disk.read(`${directory}/${path}${packing.suffix}`);
  const file = packing === undefined || packed === 'missing' ? path : `${path}${packing.suffix}`;
  const bytes = packed === 'missing' ? disk.read(`${directory}/${path}`) : packed;
  if (bytes === 'missing') return err({ file, code: 'segment_missing', reason: 'the file is not there' });
  if (bytes === 'not_a_file') return err({ file, code: 'segment_not_a_file', reason: 'it is not a regular file' });
  if (packing === undefined || packed === 'missing') return ok({ file, bytes });
  // The attested size bounds the unpacked size, and the append limit bounds the attested size.
  const content = record.bytes > MAX_PLAN_BYTES ? undefined : packing.unpack(bytes, record.bytes);
  if (content !== undefined) return ok({ file, bytes: content });
  const reason = `it does not unpack to the ${record.bytes} bytes that its record says`;
  return err({ file, code: 'segment_digest_mismatch', reason });
}

function decodeSegment<E extends JournalEvent>(
  truth: Truth<E>,
  record: SegmentClosed,
  file: string,
  bytes: Uint8Array,
  source: ReplaySource<E>,
): Result<Segment<E>, Defect> {
  const text = decodeUtf8(bytes);
  if (text === undefined) return err({ file, code: 'event_not_json', reason: 'the file is not UTF-8' });
  const first = truth.events.length;
  const count = record.lastEventIndex - first + 1;
  const texts = text.split('\n');
  if (texts.length !== count + 1 || texts.at(-1) !== '') {
    const reason = `it has ${texts.length - 1} lines, its record says ${count} events`;
    return err({ file, code: 'event_count_mismatch', reason });
  }
  texts.pop();
  const lines: EventLine<E>[] = [];
  const unpinned = new Set<Digest>();
  const keys = new Set<DedupeKey>();
  for (const [offset, line] of texts.entries()) {
    const decoded = decodeEvent(truth, first + offset, line, source);
    if (!decoded.ok) return err({ file, line: offset + 1, ...decoded.error });
    const { dedupeKey } = decoded.value;
    if (truth.indexByKey.has(dedupeKey) || keys.has(dedupeKey)) {
      return err({ file, line: offset + 1, code: 'dedupe_key_repeated', reason: `the key ${dedupeKey} is taken` });
    }
    keys.add(dedupeKey);
    for (const ref of source.schema.snapshotRefs(decoded.value)) if (!truth.pins.has(ref)) unpinned.add(ref);
    lines.push({ event: decoded.value, text: line });
  }
  return ok({ path: file, lines, unpinned });
}

function decodeEvent<E extends JournalEvent>(
  truth: Truth<E>,
  eventIndex: number,
  line: string,
  { schema, checksForm = false }: ReplaySource<E>,
): Result<E, Problem> {
  const value = parsedJson(line);
  if (value === undefined) return err({ code: 'event_not_json', reason: 'the line is not JSON' });
  const version = versionOf(value);
  if (version !== undefined && version !== schema.version) {
    return err({ code: 'event_version_unknown', reason: `the event has version ${version}` });
  }
  const event = schema.decode(value);
  if (!event.ok) return err({ code: 'event_invalid', reason: event.error });
  if (checksForm && !isCanonical(value, line)) {
    return err({ code: 'event_not_canonical', reason: 'the line is not the canonical text of its event' });
  }
  if (event.value.sessionId !== truth.sessionId) {
    return err({ code: 'event_session_mismatch', reason: `the event is of session ${event.value.sessionId}` });
  }
  if (event.value.eventIndex !== eventIndex) {
    const reason = `the event has index ${event.value.eventIndex}, its place is ${eventIndex}`;
    return err({ code: 'event_out_of_order', reason });
  }
  return event;
}

/** Why a pin does not match its event; undefined if it does. A pin may repeat an earlier one. */
function checkPin<E extends JournalEvent>(
  truth: Truth<E>,
  open: Segment<E> | undefined,
  pin: SnapshotPinned,
  schema: EventSchema<E>,
): string | undefined {
  const event = truth.events[pin.eventIndex] ?? open?.lines[pin.eventIndex - truth.events.length]?.event;
  if (event === undefined) return `there is no event ${pin.eventIndex}`;
  if (event.eventId !== pin.createdByEventId) return `event ${pin.eventIndex} has another id`;
  if (!schema.snapshotRefs(event).includes(pin.snapshotRef)) {
    return `event ${pin.eventIndex} does not refer to ${pin.snapshotRef}`;
  }
  return undefined;
}

function describeUnpinned(segment: Segment<JournalEvent>): string {
  return `the segment before it has no pin for ${[...segment.unpinned].join(', ')}`;
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
