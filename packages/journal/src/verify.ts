import { type Digest, digestHex, type Hasher, parsedJson, type SessionId, sessionId } from '@signalbox/model';
import { type Defect, defectMeanings, healthOf, type SessionHealth } from './defect.ts';
import type { Disk } from './disk.ts';
import type { EventSchema, JournalEvent } from './event.ts';
import { emptyTruth, MANIFEST, type Replayed, replay, type Truth } from './replay.ts';
import type { SegmentPacking } from './segment-packing.ts';

export interface VerifyOptions<E extends JournalEvent> {
  readonly disk: Pick<Disk, 'read' | 'kind' | 'list'>;
  readonly hasher: Hasher;
  readonly schema: EventSchema<E>;
  /** The journal's own directory. */
  readonly directory: string;
  /** The directory of its snapshots; without it they are not checked. */
  readonly snapshots?: string;
  /** A head of the journal noted earlier. */
  readonly expectHead?: Digest;
  /** How its segments may be packed. */
  readonly packing?: SegmentPacking | undefined;
}

/** The state of a journal, from its files alone. */
export interface VerifyReport {
  readonly ok: boolean;
  readonly health: SessionHealth;
  readonly sessionId?: SessionId;
  /** Valid events, counted from the start, and the head after the last of them. */
  readonly events: number;
  readonly head: Digest;
  readonly segments: number;
  readonly pins: number;
  /** The first thing that is wrong, and what it means. */
  readonly defect?: Defect & { readonly meaning: string };
  /** Observations that are not defects. */
  readonly notes: readonly string[];
}

/** Checks a journal offline. Undefined if there is no manifest. */
export function verifyJournal<E extends JournalEvent>(options: VerifyOptions<E>): VerifyReport | undefined {
  const { disk, directory, expectHead } = options;
  const manifest = disk.read(`${directory}/${MANIFEST}`);
  if (manifest === 'missing') return undefined;
  const bytes = manifest === 'not_a_file' ? new Uint8Array(0) : manifest;
  const session = sessionOf(bytes);
  const truth = emptyTruth<E>(session ?? NO_SESSION, options.hasher);
  const segments = new Set<string>();
  const { defect, tailBytes } =
    manifest === 'not_a_file'
      ? NOT_A_FILE
      : replay(truth, bytes, { ...options, onSegment: path => segments.add(path), checksForm: true });
  const found = defect ?? checkSnapshots(truth, options) ?? checkHead(truth, expectHead);
  return {
    ok: found === undefined,
    health: healthOf(found, truth.events.length),
    ...(session && { sessionId: session }),
    events: truth.events.length,
    head: truth.chain.headAt(truth.events.length),
    segments: segments.size,
    pins: truth.pins.size,
    ...(found && { defect: { ...found, meaning: defectMeanings[found.code] } }),
    notes: notesOn(truth, segments, tailBytes, defect !== undefined, options),
  };
}

const NOT_A_FILE: Replayed = {
  defect: { code: 'manifest_not_a_file', file: MANIFEST, reason: 'it is not a regular file' },
  tailBytes: 0,
};

/** A placeholder for a manifest whose first record names no session; that record is itself a defect. */
const NO_SESSION = '00000000-0000-0000-0000-000000000000' as SessionId;

function sessionOf(manifest: Uint8Array): SessionId | undefined {
  const end = manifest.indexOf(0x0a);
  const record = parsedJson(new TextDecoder().decode(manifest.subarray(0, Math.max(end, 0))));
  if (typeof record !== 'object' || record === null || !('sessionId' in record)) return undefined;
  return sessionId.safeParse(record.sessionId).data;
}

function checkSnapshots<E extends JournalEvent>(
  truth: Truth<E>,
  { disk, hasher, snapshots }: VerifyOptions<E>,
): Defect | undefined {
  if (snapshots === undefined) return undefined;
  for (const [ref, eventIndex] of truth.pins) {
    const name = `${digestHex(ref)}.json`;
    const file = `snapshots/${name}`;
    const bytes = disk.read(`${snapshots}/${name}`);
    if (typeof bytes !== 'object') {
      return { code: 'snapshot_missing', file, reason: `event ${eventIndex} refers to it, and it is not there` };
    }
    if (hasher(bytes) !== ref) {
      return { code: 'snapshot_digest_mismatch', file, reason: `event ${eventIndex} refers to it by another sha256` };
    }
  }
  return undefined;
}

function checkHead<E extends JournalEvent>(truth: Truth<E>, expected: Digest | undefined): Defect | undefined {
  const { length } = truth.events;
  if (expected === undefined || expected === truth.chain.headAt(length)) return undefined;
  for (let count = 0; count < length; count++) {
    if (truth.chain.headAt(count) !== expected) continue;
    const reason = `${expected} was the head after ${count} of the ${length} events`;
    return { code: 'head_passed', file: MANIFEST, reason };
  }
  return { code: 'head_mismatch', file: MANIFEST, reason: `no event of this journal ends in ${expected}` };
}

function notesOn<E extends JournalEvent>(
  truth: Truth<E>,
  segments: ReadonlySet<string>,
  tailBytes: number,
  isDamaged: boolean,
  { disk, directory, snapshots }: VerifyOptions<E>,
): readonly string[] {
  const notes: string[] = [];
  if (tailBytes > 0) {
    notes.push(
      `The last ${tailBytes} bytes of ${MANIFEST} belong to an append that was cut short and never acknowledged. The next append removes them.`,
    );
  }
  const events = `${directory}/events`;
  const strays =
    disk.kind(events) === 'directory' ? disk.list(events).filter(name => !segments.has(`events/${name}`)) : [];
  // After a defect, the manifest cannot say which segments it named.
  if (strays.length > 0 && !isDamaged) {
    notes.push(`${strays.length} file(s) in events/ are named by no record and were ignored.`);
  }
  if (snapshots === undefined && truth.pins.size > 0) {
    notes.push(`No snapshot store was found: the ${truth.pins.size} pinned snapshots were not checked.`);
  }
  return notes;
}
