import { type Digest, digestHex, type EventId, err, ok, type Result } from '@signalbox/model';
import { fullEvent } from '../events/kept-event.ts';
import { type AnyEvent, EVENT_VERSION, type EventDraft, type StoredEvent } from '../events/stored-event.ts';
import type { RecordDraft, RecordHeader } from './record.ts';

/** The events that a record tells, in their places (T3); or why it cannot be read. */
export function recordEvents(header: Place, body: RecordDraft, hash: Digest): Result<readonly StoredEvent[], string> {
  const told = toldEvents(header, body);
  return told.ok ? ok(placedEvents(header, told.value, hash)) : told;
}

/**
 * The events of a record in full; or which of them cannot be told. Where they were taken away, each is said to be gone, so that
 * every `seq` is still answered (T7).
 */
export function toldEvents(
  { events }: Pick<RecordHeader, 'events'>,
  body: RecordDraft,
): Result<readonly EventDraft[], string> {
  if (body.away?.events === true) return ok(Array.from({ length: events }, () => ({ type: 'event.gone' })));
  const told: EventDraft[] = [];
  for (const kept of body.events ?? []) {
    const event = fullEvent(body, kept);
    if (event === undefined) return err(`its event ${told.length} follows from nothing in it`);
    told.push(event);
  }
  return ok(told);
}

type Place = Pick<RecordHeader, 'log' | 'seq' | 'at' | 'events'>;

export function placedEvents(
  { log, seq, at }: Omit<Place, 'events'>,
  events: readonly EventDraft[],
  hash: Digest,
): readonly StoredEvent[] {
  return events.map((event, index) => {
    const { id = eventIdOf(hash, index), ts = at } = event;
    const placed = { v: EVENT_VERSION, id, ts, ...event, runId: log, seq: seq + index };
    return { event: placed as AnyEvent, hash };
  });
}

/** A UUID (version 8) of the beginning of the record's hash, which no redaction changes, and the event's place in it. */
function eventIdOf(hash: Digest, index: number): EventId {
  const hex = digestHex(hash);
  const variant = VARIANTS[Number.parseInt(hex.charAt(16), 16) & 3];
  const place = index.toString(16).padStart(6, '0');
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `${variant}${hex.slice(17, 20)}`];
  return `${parts.join('-')}-${hex.slice(20, 26)}${place}` as EventId;
}

const VARIANTS = '89ab';
