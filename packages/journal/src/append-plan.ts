import {
  type Digest,
  type ErrorEnvelope,
  err,
  failure,
  type Hasher,
  ok,
  type Result,
  tryCanonicalJson,
  utf8Bytes,
} from '@signalbox/model';
import { MAX_PLAN_BYTES, MAX_PLAN_EVENTS } from './append-limits.ts';
import { type DedupeKey, type EventDraft, type EventSchema, isDedupeKey, type JournalEvent } from './event.ts';
import { encodeRecord, type ManifestRecord, segmentPath } from './manifest-record.ts';
import type { EventLine, Truth } from './replay.ts';

/** The unit of truth: appended completely or not at all. */
export interface AppendPlan<E extends JournalEvent> {
  readonly events: readonly EventDraft<E>[];
}

export type PlanError = ErrorEnvelope<'STORE_PLAN_INVALID' | 'STORE_DEDUPE_CONFLICT'>;

/** What an append will write, byte for byte. */
export interface PreparedAppend<E extends JournalEvent> {
  readonly lines: readonly EventLine<E>[];
  readonly newRefs: readonly Digest[];
  readonly segmentPath: string;
  readonly segment: Uint8Array;
  readonly manifest: Uint8Array;
  readonly recordCount: number;
}

export type PlanDecision<E extends JournalEvent> =
  | { readonly kind: 'append'; readonly prepared: PreparedAppend<E> }
  | { readonly kind: 'recorded'; readonly events: readonly E[] };

/** Computes what a plan appends to a truth. Pure: nothing is written yet. */
export function decidePlan<E extends JournalEvent>(
  truth: Truth<E>,
  plan: AppendPlan<E>,
  schema: EventSchema<E>,
  hasher: Hasher,
): Result<PlanDecision<E>, PlanError> {
  const known = recordedEvents(truth, plan);
  if (!known.ok) return known;
  if (known.value !== undefined) return ok({ kind: 'recorded', events: known.value });
  const prepared = prepare(truth, plan, schema, hasher);
  return prepared.ok ? ok({ kind: 'append', prepared: prepared.value }) : prepared;
}

/** The events of an already appended plan; undefined if the whole plan is new. */
function recordedEvents<E extends JournalEvent>(
  truth: Truth<E>,
  { events }: AppendPlan<E>,
): Result<readonly E[] | undefined, PlanError> {
  if (events.length === 0) return err(invalidPlan('a plan has at least one event'));
  if (events.length > MAX_PLAN_EVENTS) {
    return err(invalidPlan(`it has ${events.length} events, the most is ${MAX_PLAN_EVENTS}`));
  }
  const keys = new Set<DedupeKey>();
  const known: E[] = [];
  for (const draft of events) {
    if (!isDedupeKey(draft.dedupeKey)) {
      return err(invalidPlan(`${JSON.stringify(draft.dedupeKey)} is not a dedupe key (a-z 0-9 _ : > -, 256 at most)`));
    }
    if (keys.has(draft.dedupeKey)) return err(invalidPlan(`the key ${draft.dedupeKey} stands in it twice`));
    keys.add(draft.dedupeKey);
    const event = truth.events[truth.indexByKey.get(draft.dedupeKey) ?? -1];
    if (event !== undefined) known.push(event);
  }
  if (known.length === 0) return ok(undefined);
  return known.length === events.length ? ok(known) : err(dedupeConflict(truth, known, events.length));
}

function prepare<E extends JournalEvent>(
  truth: Truth<E>,
  plan: AppendPlan<E>,
  schema: EventSchema<E>,
  hasher: Hasher,
): Result<PreparedAppend<E>, PlanError> {
  const first = truth.events.length;
  const lines: EventLine<E>[] = [];
  const pins: { readonly ref: Digest; readonly event: E }[] = [];
  const refs = new Set<Digest>();
  for (const [offset, draft] of plan.events.entries()) {
    const value = { ...draft, v: schema.version, eventIndex: first + offset, sessionId: truth.sessionId };
    const event = schema.decode(value);
    if (!event.ok)
      return err(invalidPlan(`event ${offset} (${draft.dedupeKey}) does not fit its schema: ${event.error}`));
    const text = schema.canonicalText === undefined ? tryCanonicalJson(value) : ok(schema.canonicalText(value as E));
    if (!text.ok)
      return err(invalidPlan(`event ${offset} (${draft.dedupeKey}) is not plain data: ${text.error.reason}`));
    lines.push({ event: event.value, text: text.value });
    for (const ref of schema.snapshotRefs(event.value)) {
      if (truth.pins.has(ref) || refs.has(ref)) continue;
      refs.add(ref);
      pins.push({ ref, event: event.value });
    }
  }

  const segment = utf8Bytes(lines.map(line => `${line.text}\n`).join(''));
  if (segment.length > MAX_PLAN_BYTES) {
    return err(invalidPlan(`its events take ${segment.length} bytes, the most is ${MAX_PLAN_BYTES}`));
  }
  const last = first + lines.length - 1;
  const path = segmentPath(first, last);
  const record = (offset: number) =>
    ({ v: 1, manifestIndex: truth.records + offset, sessionId: truth.sessionId }) as const;
  const records: ManifestRecord[] = [
    {
      ...record(0),
      kind: 'segment_closed',
      firstEventIndex: first,
      lastEventIndex: last,
      segmentRelPath: path,
      sha256: hasher(segment),
      bytes: segment.length,
    },
    ...pins.map(({ ref, event }, index) => ({
      ...record(index + 1),
      kind: 'snapshot_pinned' as const,
      eventIndex: event.eventIndex,
      snapshotRef: ref,
      createdByEventId: event.eventId,
    })),
  ];
  return ok({
    lines,
    newRefs: [...refs],
    segmentPath: path,
    segment,
    manifest: utf8Bytes(records.map(record => `${encodeRecord(record)}\n`).join('')),
    recordCount: records.length,
  });
}

function invalidPlan(why: string): PlanError {
  return failure('STORE_PLAN_INVALID', {
    message: `The plan was refused and nothing was written: ${why}.`,
    suggestion: 'Mend the plan and append it again; split one that is too large.',
  });
}

function dedupeConflict<E extends JournalEvent>(truth: Truth<E>, known: readonly E[], of: number): PlanError {
  return failure('STORE_DEDUPE_CONFLICT', {
    message: `${known.length} of the plan's ${of} events are recorded in session ${truth.sessionId} already, the others are not. Nothing was written.`,
    suggestion:
      'A retry must carry the same events as the first attempt. Read the session and append only what is new.',
    details: { sessionId: truth.sessionId, recorded: known.map(event => event.dedupeKey) },
  });
}
