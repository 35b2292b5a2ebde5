import { type Digest, err, ok, type Result } from '@signalbox/model';
import { fullEvent, isTold } from '../events/kept-event.ts';
import { type AnyEvent, EVENT_VERSION, type EventDraft, type StoredEvent } from '../events/stored-event.ts';
import { eventIdAt } from './event-id.ts';
import type { RecordDraft, RecordHeader } from './record.ts';

/** The events of a record, in their places (T3); or why it is unreadable. */
export function recordEvents(header: Place, body: RecordDraft, hash: Digest): Result<readonly StoredEvent[], string> {
  const told = toldEvents(header, body);
  return told.ok ? ok(placedEvents(header, told.value, hash)) : told;
}

/**
 * The events of a record in full, or which of them is incomplete. Removed events are each reported as gone, so that every `seq` still has
 * an answer (T7).
 */
function toldEvents(
  { events }: Pick<RecordHeader, 'events'>,
  body: RecordDraft,
): Result<readonly EventDraft[], string> {
  if (body.away?.events === true) return ok(Array.from({ length: events }, () => ({ type: 'event.gone' })));
  const untold = untoldEvent(body);
  if (untold !== undefined) return err(untold);
  return ok((body.events ?? []).map(kept => fullEvent(body, kept) as EventDraft));
}

/** The first event of a record that cannot be expanded, if any. */
export function untoldEvent(body: RecordDraft): string | undefined {
  const at = body.events?.findIndex(kept => !isTold(body, kept)) ?? -1;
  return at < 0 ? undefined : `its event ${at} follows from nothing in it`;
}

type Place = Pick<RecordHeader, 'log' | 'n' | 'seq' | 'at' | 'events'>;

function placedEvents(
  { log, n, seq, at }: Omit<Place, 'events'>,
  events: readonly EventDraft[],
  hash: Digest,
): readonly StoredEvent[] {
  return events.map((event, index) => {
    const { id = eventIdAt(log, n, index), ts = at } = event;
    const placed = { v: EVENT_VERSION, id, ts, ...event, runId: log, seq: seq + index };
    return { event: placed as AnyEvent, hash };
  });
}
