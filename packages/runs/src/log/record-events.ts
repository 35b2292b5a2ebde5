import { deriveId, type EventId } from '@signalbox/model';
import type { EventDraft } from '../events/stored-event.ts';
import type { RecordDraft, RecordHeader } from './record.ts';

/** The events of a record. Where they were taken away, each is said to be gone, so that every `seq` is still answered. */
export function eventsOf(
  { log, seq, events, at }: Pick<RecordHeader, 'log' | 'seq' | 'events' | 'at'>,
  body: Pick<RecordDraft, 'events' | 'away'>,
): readonly EventDraft[] {
  if (body.away?.events !== true) return body.events ?? [];
  return Array.from({ length: events }, (_, index) => ({
    v: 1,
    id: deriveId<EventId>('gone-event', log, seq + index),
    ts: at,
    type: 'event.gone',
  }));
}
