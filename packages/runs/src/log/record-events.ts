import { type Digest, deriveId, type EventId, err, ok, type Result } from '@signalbox/model';
import { fullEvent } from '../events/kept-event.ts';
import { type AnyEvent, EVENT_VERSION, type StoredEvent } from '../events/stored-event.ts';
import type { RecordDraft, RecordHeader } from './record.ts';

/** The events that a record tells, in their places (T3); or why it cannot be read. */
export function recordEvents(
  { log, n, seq, at }: Pick<RecordHeader, 'log' | 'n' | 'seq' | 'at'>,
  body: RecordDraft,
  hash: Digest,
): Result<readonly StoredEvent[], string> {
  const told: StoredEvent[] = [];
  for (const [index, kept] of (body.events ?? []).entries()) {
    const event = fullEvent(body, kept);
    if (event === undefined) return err(`its event ${index} follows from nothing in it`);
    const { id = deriveId<EventId>('event', log, n, index), ts = at, ...said } = event;
    told.push({ event: { v: EVENT_VERSION, id, ts, ...said, runId: log, seq: seq + index } as AnyEvent, hash });
  }
  return ok(told);
}
