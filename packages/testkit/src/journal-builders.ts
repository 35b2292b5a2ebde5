import {
  type ContentStore,
  type Disk,
  type EventDraft,
  type EventSchema,
  eventSchema,
  type FileLocks,
  type Journal,
  journalEventFields,
  nodeHasher,
  openContentStore,
  openJournal,
  type SegmentPacking,
} from '@signalbox/journal';
import { canonicalJson, digest, digestOf, type EventId, eventId, type SessionId } from '@signalbox/model';
import * as z from 'zod';

/** The simplest event of a journal: a fact with an optional snapshot. */
const factRecorded = z.strictObject({
  ...journalEventFields,
  kind: z.literal('fact_recorded'),
  data: z.strictObject({ text: z.string(), snapshotRef: digest.optional() }),
});
export type FactRecorded = z.infer<typeof factRecorded>;

export const factSchema: EventSchema<FactRecorded> = eventSchema(factRecorded, event =>
  event.data.snapshotRef === undefined ? [] : [event.data.snapshotRef],
);

export const TEST_SESSION = '01900000-0000-7000-8000-000000000001' as SessionId;

/** A journal of facts and its snapshots on any disk; `home` must exist. */
export function openFacts(options: {
  readonly disk: Disk;
  readonly locks: FileLocks;
  readonly home: string;
  readonly sessionId?: SessionId;
  readonly packing?: SegmentPacking;
}): { readonly journal: Journal<FactRecorded>; readonly snapshots: ContentStore } {
  const { disk, locks, home, sessionId = TEST_SESSION, packing } = options;
  const hasher = nodeHasher;
  const snapshots = openContentStore({ disk, hasher, home, name: 'snapshots', writer: String(process.pid) });
  const journal = openJournal({
    disk,
    locks,
    hasher,
    schema: factSchema,
    snapshots,
    home,
    collection: 'sessions',
    sessionId,
    packing,
  });
  return { journal, snapshots };
}

/** A fact whose ids, and snapshot if any, derive from its number. */
export function factDraft(number: number, options: { readonly withSnapshot?: boolean; readonly text?: string } = {}) {
  const { withSnapshot = false, text = `fact ${number}` } = options;
  return {
    eventId: factEventId(number),
    kind: 'fact_recorded',
    dedupeKey: `fact_recorded:${number}` as EventDraft<FactRecorded>['dedupeKey'],
    data: { text, ...(withSnapshot && { snapshotRef: digestOf(nodeHasher, snapshotValue(number)) }) },
  } satisfies EventDraft<FactRecorded>;
}

/** The text of a fact's snapshot. */
export function snapshotText(number: number): string {
  return canonicalJson(snapshotValue(number));
}

function snapshotValue(number: number) {
  return { v: 1, state: `after fact ${number}` };
}

function factEventId(number: number): EventId {
  return eventId.parse(`01900000-0000-7000-9000-${number.toString(16).padStart(12, '0')}`);
}
